"""Imports `module:object` for a worker: of mqproof itself, or of another package."""

from importlib import import_module
from typing import Any


class CannotLoad(Exception):
    """Nothing is to be had by this text; says why."""


def loaded(text: str) -> Any:
    """Raises CannotLoad."""
    module, _, path = text.partition(":")
    try:
        found: Any = import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError, ValueError) as failure:
        raise CannotLoad(f"{text!r} cannot be imported: {failure}") from failure
    return found
