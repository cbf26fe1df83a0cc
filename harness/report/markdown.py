"""Tables as Markdown: what stands in their fields is no mark-up."""

from collections.abc import Iterable, Iterator

_INSTEAD = (("\u00a0", " "), ("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("\n", " "))


def escaped(text: str) -> str:
    """What came from an article, a broker or a file means nothing but itself, on one line."""
    for mark, instead in _INSTEAD:
        text = text.replace(mark, instead)
    return text


def row(fields: Iterable[str]) -> str:
    return f"| {' | '.join(map(escaped, fields))} |"


def head(*names: str) -> Iterator[str]:
    """Yield the first two lines of a table."""
    yield row(names)
    yield row(["---"] * len(names))
