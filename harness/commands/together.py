"""What several things are wrong with, told at once: no command ends at the first of them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.outside.files import why_not_written
from harness.plan.problems import Problem, twice, unknown


def wrong_words(
    place: str, kind: str, words: Sequence[str], choices: Sequence[str]
) -> list[Problem]:
    """Each word that is none of the choices, or is said twice."""
    wrong = dict.fromkeys(word for word in words if word not in choices)
    return [unknown(place, kind, word, choices) for word in wrong] + twice(place, words)


def unwritable(place: str, path: Path) -> Iterator[Problem]:
    """Why nothing could be put there."""
    if reason := why_not_written(path):
        yield Problem(place, f"{path}: {reason}")
