"""What is wrong with a plan: every problem at once, each with its place and the valid choices.

1. A problem is a value; texts for people are made here and nowhere else.
2. PlanError is bad input (exit code 254), never a fault of ours.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

EMPTY = "is given with nothing: a variable that is not set, perhaps; leave it out, or name one"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, what, and what would be right."""

    place: str
    text: str
    choices: tuple[str, ...] = ()
    guess: str = ""  # what was probably meant; "" where nothing is near

    def __str__(self) -> str:
        parts = [f"{self.place}: {self.text}" if self.place else self.text]
        if self.guess:
            parts.append(f"did you mean {self.guess!r}?")
        if self.choices:
            parts.append(f"valid: {' | '.join(self.choices)}")
        return "; ".join(parts)


class PlanError(Exception):
    """Input that no experiment can be made of. `problems` has at least one."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        assert self.problems, "an error must name a problem"
        super().__init__("\n".join(str(problem) for problem in self.problems))


def unknown(place: str, kind: str, word: str, choices: Sequence[str]) -> Problem:
    """`word` names no `kind`: which ones there are, and which was probably meant."""
    return Problem(place, f"there is no {kind} {word!r}", tuple(choices), nearest(word, choices))


def nearest(word: str, choices: Sequence[str]) -> str:
    """The choice that `word` is probably a misspelling of, or ""."""
    found = get_close_matches(word, choices, n=1, cutoff=0.6)
    return found[0] if found else ""
