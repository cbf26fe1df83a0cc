"""The problems of a history: each with its place, as many as a person reads.

1. A reader goes on after a problem as long as the rest still has a meaning.
2. A history with problems is not judged: `check` raises the collected ones.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.outside.text import brief
from harness.plan.problems import LISTED_MAX, PlanError, Problem, and_more, unknown

_OF_A_COLUMN_MAX = 3


@dataclass(slots=True)
class Complaints:
    """The problems of one file."""

    file: str
    _problems: list[Problem] = field(default_factory=list)
    _count: int = 0

    def add(self, place: str, text: str) -> None:
        self._keep(Problem(self._place(place), text))

    def unknown(self, place: str, kind: str, word: object, choices: Sequence[str]) -> None:
        """`word` names no `kind`."""
        if len(self._problems) >= LISTED_MAX:
            self._count += (
                1  # guessing the intended word takes long, and further problems are not shown
            )
        elif isinstance(word, str):
            self._keep(unknown(self._place(place), kind, word, choices))
        else:
            self._keep(Problem(self._place(place), f"{brief(word)} is no {kind}", tuple(choices)))

    def cells(self, column: str, wrong: Iterable[tuple[int, str]]) -> None:
        """The cells of one column that are wrong: the first ones, and how many there are more."""
        found = list(wrong)
        for row, text in found[:_OF_A_COLUMN_MAX]:
            self.add(f"{column}[{row}]", text)
        if len(found) > _OF_A_COLUMN_MAX:
            self.add(column, f"{len(found) - _OF_A_COLUMN_MAX:,} more cells are wrong")

    @property
    def any(self) -> bool:
        return self._count > 0

    def check(self) -> None:
        """Raises PlanError where there was a problem."""
        if not self._count:
            return
        more = self._count - len(self._problems)
        rest = [and_more(self.file, more)] if more else []
        raise PlanError([*self._problems, *rest])

    def _keep(self, problem: Problem) -> None:
        self._count += 1
        if len(self._problems) < LISTED_MAX:
            self._problems.append(problem)

    def _place(self, place: str) -> str:
        return f"{self.file}: {place}" if place else self.file
