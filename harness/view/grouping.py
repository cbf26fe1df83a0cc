"""Rows by what they share."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Key = TypeVar("Key")
Row = TypeVar("Row")


def by_key(rows: Iterable[Row], key: Callable[[Row], Key]) -> dict[Key, list[Row]]:
    """Return the rows by key; keys come in the order of their first row."""
    found: dict[Key, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found
