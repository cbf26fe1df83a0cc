"""Fields and rows of Markdown tables: what stands in them is no mark-up."""

from collections.abc import Iterable


def escaped(text: str) -> str:
    """What came from an article, a broker or a file means nothing but itself, on one line."""
    for mark, instead in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("\n", " ")):
        text = text.replace(mark, instead)
    return text


def row(fields: Iterable[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(map(escaped, fields))} |"
