"""Names in a table of Markdown."""

from collections.abc import Iterable


def code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
