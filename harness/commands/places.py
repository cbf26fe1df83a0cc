"""Where experiments lie, as a person names them: folders, and URLs of what Spark can read.

1. A run in a store is copied into the folder of results first, under the last part of its URL. A
   copy that exists already is used as it is.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.outside.files import why_not_written
from harness.outside.text import brief
from harness.plan.problems import Problem
from harness.run_folder.experiments import PLACE

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of all that was named, in order; of those to be brought there, their URLs."""

    folders: tuple[Path, ...]
    wanted: dict[str, Path]

    @property
    def here(self) -> tuple[Path, ...]:
        """Those that are folders now."""
        coming = self.wanted.values()
        return tuple(folder for folder in self.folders if folder not in coming)


def places(words: Sequence[str], results: Path) -> tuple[Places, list[Problem]]:
    """Return the places, and the problems with them."""
    wanted = {word: results / _name(word) for word in words if _URL.fullmatch(word)}
    folders = tuple(wanted.get(word, Path(word)) for word in words)
    return Places(folders, wanted), [*_problems(words, wanted)]


def _name(url: str) -> str:
    return url.rstrip("/").partition("://")[2].rpartition("/")[2]


def _problems(words: Sequence[str], wanted: dict[str, Path]) -> Iterator[Problem]:
    for word, count in Counter(words).items():
        if word in wanted and count > 1:
            yield Problem(PLACE, f"{brief(word)} is named {count} times")
    names = Counter(wanted.values())
    for url, folder in wanted.items():
        if _name(url) in ("", ".", "..") or "\0" in url:
            yield Problem(PLACE, f"{brief(url)} ends with no name of an experiment")
        elif names[folder] > 1:
            yield Problem(PLACE, f"{brief(url)} and another would both be brought to {folder}")
        elif reason := why_not_written(folder):
            yield Problem("--results", f"{folder}: {reason}")
        elif folder.exists():
            yield Problem(
                PLACE,
                f"{brief(url)} would be brought to {folder}, which is there: name that folder "
                "to judge it, or other --results",
            )
