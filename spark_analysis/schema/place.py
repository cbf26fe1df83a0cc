"""The Spark master and settings that a user asks for.

1. Without a master it is this machine, or the one of spark-submit.
2. Only the forms are checked here. Spark finds out whether the master exists.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MASTERS = (
    "local",
    "local[4]",
    "local[*]",
    "spark://HOST:PORT",
    "yarn",
    "k8s://URL",
)
_MASTER = re.compile(
    r"local(\[(\*|[1-9]\d{0,3})(,\d{1,3})?\])?"
    r"|spark://[^\s:/,]+:\d{1,5}(,[^\s:/,]+:\d{1,5})*"
    r"|yarn|k8s://\S+"
)
_KEY = re.compile(r"spark\.[A-Za-z0-9._-]+")

# What a task may hold that judges one run with several threads: a setting like Spark's own.
MEMORY = "spark.mqproof.memory"
MEMORIES = ("3g", "12g", "900m")
_SIZE = re.compile(r"([1-9]\d{0,5})([kmgt])b?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """`master`: "" where it was not said; `settings`: by key, and above ours."""

    master: str = ""
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def is_here(self) -> bool:
        return self.master.startswith("local") or not self.master

    @property
    def words(self) -> list[str]:
        """Return the command-line options that ask for it."""
        found = ["--master", self.master] if self.master else []
        for key, value in self.settings:
            found += ["--conf", f"{key}={value}"]
        return found


HERE = Place()


def wrong_master(word: str) -> bool:
    """Return whether Spark has no master of this form. `word`: "" is none at all."""
    return bool(word) and _MASTER.fullmatch(word) is None


def size(word: str) -> int | None:
    """Return the bytes of a size in Spark's form, "3g"; None if it is none."""
    found = _SIZE.fullmatch(word)
    return int(found[1]) << 10 * (1 + "kmgt".index(found[2].lower())) if found else None


def settings(words: Sequence[str]) -> Iterator[tuple[str, str] | str]:
    """Yield the key and value of each KEY=VALUE, or the word if it has another form."""
    for word in words:
        key, equals, value = word.partition("=")
        yield (key, value) if equals and _KEY.fullmatch(key) else word
