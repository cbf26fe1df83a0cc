"""What several things are wrong with, told at once: no command ends at the first of them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from harness.outside.files import why_not_written
from harness.plan.problems import PlanError, Problem, twice, unknown

Item = TypeVar("Item")
Found = TypeVar("Found")


def each(
    items: Iterable[Item], make: Callable[[Item], Found], problems: Sequence[Problem] = ()
) -> list[Found]:
    """What is made of each. Raises PlanError with the problems of all."""
    found: list[Found] = []
    wrong = list(problems)
    for item in items:
        try:
            found.append(make(item))
        except PlanError as error:
            wrong += error.problems
    if wrong:
        raise PlanError(wrong)
    return found


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
