"""A fault's options as manifests and journals record them.

1. A record has every field that some kind of ours takes, whatever the fault's own kind is: readers
   find the same keys in each record.
2. It is read as what the fault's kind takes. A kind that is unknown here takes nothing.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from faults.core.options import FaultOptions
from faults.kinds import KINDS, OURS

_DEFAULTS = {
    field: option.default for kind in OURS for field, option in kind.options.by_field().items()
}


def options_to_json(options: FaultOptions) -> dict[str, Any]:
    return _DEFAULTS | asdict(options)


def options_from_json(kind: str, document: Mapping[str, Any]) -> FaultOptions:
    """Raise TypeError if one of them is no option of a fault of ours."""
    taken = KINDS[kind].options if kind in KINDS else FaultOptions
    own = taken.by_field().keys()
    strange = document.keys() - own - _DEFAULTS.keys()
    if strange and kind in KINDS:
        raise TypeError(f"a {kind} takes no {', '.join(sorted(strange))}")
    return taken(**{field: document[field] for field in own & document.keys()})
