"""Where a key stands in a TOML text: a line number for error messages.

1. Only what people write by hand is understood: a header a line, a key a line. What cannot be
   found has no line, and the message goes without.
2. A path is what pydantic reports: ("fault", 0, "kind"), ("workload", "amqp", "prefetch").
"""

import re

Path = tuple[str | int, ...]
_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"^\s*([A-Za-z0-9_-]+|\"[^\"]+\")\s*=")


def line_numbers(source: str) -> dict[Path, int]:
    """The line, from 1, of every header and key that stands on a line of its own."""
    lines: dict[Path, int] = {}
    counts: dict[str, int] = {}
    table: Path = ()
    for number, line in enumerate(source.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _table(header[2], header[1] == "[[", counts)
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, key[1].strip('"')), number)
    return lines


def describe(path: Path, lines: dict[Path, int], file: str) -> str:
    """`cut.toml, line 12, [[fault]] 1, target`."""
    number = line(path, lines)
    return ", ".join([file, *([f"line {number}"] if number else []), *_words(path)])


def line(path: Path, lines: dict[Path, int]) -> int:
    """The line of `path`, or of the nearest table around it; 0 where none is known."""
    known = (path[:length] for length in range(len(path), 0, -1))
    return next((lines[one] for one in known if one in lines), 0)


def _table(name: str, repeated: bool, counts: dict[str, int]) -> Path:
    names: Path = tuple(part.strip().strip('"') for part in name.split("."))
    if not repeated:
        return names
    counts[name] = counts.get(name, -1) + 1
    return (*names, counts[name])


def _words(path: Path) -> list[str]:
    if len(path) >= 2 and isinstance(path[1], int):
        return [f"[[{path[0]}]] {path[1] + 1}", *(str(part) for part in path[2:])]
    if len(path) >= 2:
        return [f"[{'.'.join(str(part) for part in path[:-1])}]", str(path[-1])]
    return [str(part) for part in path]
