"""Where a key stands in a TOML text: a line number for error messages.

1. Only what people write by hand is understood: a header a line, a key a line. What cannot be
   found has no line, and the message goes without.
2. A path is what pydantic reports: ("fault", 0, "kind"), ("workload", "amqp", "prefetch").
3. A table below an array of tables, as [broker.kill] below [[broker]], is of its latest entry.
"""

import re

Path = tuple[str | int, ...]
_NAME = r"(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')"
_NAMES = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_HEADER = re.compile(rf"^\s*(\[\[?)\s*({_NAMES})\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(rf"^\s*({_NAMES})\s*=")


def line_numbers(source: str) -> dict[Path, int]:
    """The line, from 1, of every header and key that stands on a line of its own."""
    lines: dict[Path, int] = {}
    latest: dict[Path, int] = {}  # array of tables -> the index of its latest entry
    table: Path = ()
    for number, line in enumerate(source.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _table(_names(header[2]), header[1] == "[[", latest)
            lines.setdefault(table, number)
            if header[1] == "[[":
                lines.setdefault(table[:-1], number)  # the array as a whole begins here
        elif key := _KEY.match(line):
            lines.setdefault((*table, *_names(key[1])), number)
    return lines


def describe(path: Path, lines: dict[Path, int], file: str) -> str:
    """`cut.toml, line 12, [[fault]] 1, target`."""
    number = line(path, lines)
    return ", ".join([file, *([f"line {number}"] if number else []), *_words(path)])


def line(path: Path, lines: dict[Path, int]) -> int:
    """The line of `path`, or of the nearest table around it; 0 where none is known."""
    known = (path[:length] for length in range(len(path), 0, -1))
    return next((lines[one] for one in known if one in lines), 0)


def _names(text: str) -> tuple[str, ...]:
    """The names of a header or a key, parted by dots, without their quotes."""
    return tuple(name.strip("\"'") for name in re.findall(_NAME, text))


def _table(names: tuple[str, ...], repeated: bool, latest: dict[Path, int]) -> Path:
    path: Path = ()
    for depth, name in enumerate(names, start=1):
        path = (*path, name)
        if repeated and depth == len(names):
            latest[path] = latest.get(path, -1) + 1
        if path in latest:
            path = (*path, latest[path])
    return path


def _words(path: Path) -> list[str]:
    if len(path) > 2 and isinstance(path[-1], int):
        return [*_words(path[:-1]), f"number {path[-1] + 1}"]
    if len(path) >= 2 and isinstance(path[1], int):
        return [f"[[{path[0]}]] {path[1] + 1}", *(str(part) for part in path[2:])]
    if len(path) >= 2:
        return [f"[{'.'.join(str(part) for part in path[:-1])}]", str(path[-1])]
    return [str(part) for part in path]
