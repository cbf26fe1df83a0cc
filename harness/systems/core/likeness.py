"""PURE: a layout file that says `like = "NAME"` has what it lacks from that built-in layout.

1. What a file says replaces the other's key as a whole: its `hosts` are all hosts that there are.
2. A name and a title are a layout's own.
3. One step only: a layout that is itself like another one cannot be named.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.outside.text import brief

LIKE = "like"
_OWN = frozenset({"name", "title"})


class LikenessError(Exception):
    """There is no such layout to be like; `choices`: those that there are."""

    def __init__(self, text: str, choices: Sequence[str]) -> None:
        super().__init__(text)
        self.choices = tuple(choices)


def whole(
    document: Mapping[str, Any], built_in: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """A file's own keys and those that it has from another; `built_in`: documents by name.

    Raises LikenessError.
    """
    own = {key: value for key, value in document.items() if key != LIKE}
    if LIKE not in document:
        return own
    choices = [name for name, other in built_in.items() if LIKE not in other]
    if document[LIKE] not in choices:
        raise LikenessError(f"there is no layout {brief(document[LIKE])} to be like", choices)
    other = built_in[document[LIKE]]
    return {key: value for key, value in other.items() if key not in _OWN} | own
