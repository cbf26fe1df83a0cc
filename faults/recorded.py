"""Actions as JSON, for the journal: another process reads them again, and undoes what was done."""

from dataclasses import asdict, is_dataclass
from typing import Any

from faults.actions import Action
from faults.kinds import KINDS


def action_to_json(action: Action) -> dict[str, Any]:
    assert is_dataclass(action), action
    return {"action": type(action).__name__, **asdict(action)}


def action_from_json(document: dict[str, Any]) -> Action:
    """Raises KeyError or TypeError on what is an action of no kind that is known here."""
    parts = {key: _frozen(value) for key, value in document.items() if key != "action"}
    known = {action.__name__: action for kind in KINDS.values() for action in kind.actions}
    return known[document["action"]](**parts)


def _frozen(value: Any) -> Any:
    return tuple(_frozen(one) for one in value) if isinstance(value, list) else value
