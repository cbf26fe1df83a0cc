"""What is wrong with a plan: every problem at once, each with its place and the valid choices.

1. A problem is a value; texts for people are made here and nowhere else.
2. PlanError is bad input (exit code 254), never a fault of ours.
3. A problem has up to three parts: what is wrong and where; what was expected (`choices`, or
   `expected`); what to do (`advice`).
4. A problem is one line of bounded length, and so are a list of them: what is not listed is
   counted. Choices that an earlier line of the list has are not listed again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TypeVar

from harness.outside.text import brief, cut, one_line
from spark_analysis.schema.old_names import OF_USERS

Item = TypeVar("Item")
Found = TypeVar("Found")

LISTED_MAX = 50
_PLACE_MAX = 300  # characters
_TEXT_MAX = 600
_CHOICE_MAX = 100
_CHOICES_MAX = 100
_WORD_MAX = 100  # a longer word is no misspelling
_MISSING = "No such file or directory"  # the system's words for ENOENT
CHECK_PATH = "check the path; a relative path begins in the current folder"
_LISTS = {
    kind: f"`mqproof list {kind}s` describes each"
    for kind in ("scenario", "system", "layout", "client", "fact", "fault")
}
_SHOWN_MAX = 12  # of more choices only those near the word are shown, if a command lists all
_NEAR_MAX = 5
_REPEATED_MAX = 3  # so few choices may be listed again
EMPTY = "is given with nothing: a variable that is not set, perhaps; leave it out, or name one"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, what, and what would be right."""

    place: str
    text: str
    choices: tuple[str, ...] = ()
    guess: str = ""  # what was probably meant; "" where nothing is near
    stands_for: int = 1  # how many problems it stands for; of several only the number is shown
    at_least: bool = False  # or more: the count stopped there
    expected: str = ""  # what belongs there, where it is no list of choices
    advice: str = ""  # what to do
    unlisted: int = 0  # how many choices there are beside `choices`

    def __str__(self) -> str:
        text = cut(self.text, _TEXT_MAX)
        parts = [f"{cut(self.place, _PLACE_MAX)}: {text}" if self.place else text]
        if self.guess:
            parts.append(f"did you mean {brief(self.guess)}?")
        if self.choices:
            parts.append(f"valid: {' | '.join(self._choices())}")
        parts += [f"expected: {self.expected}"] if self.expected else []
        parts += [f"what to do: {self.advice}"] if self.advice else []
        return one_line("; ".join(parts))

    def _choices(self) -> Iterator[str]:
        yield from (cut(choice, _CHOICE_MAX) for choice in self.choices[:_CHOICES_MAX])
        if rest := max(0, len(self.choices) - _CHOICES_MAX) + self.unlisted:
            yield f"and {rest:,} more"


class PlanError(Exception):
    """Input that no experiment can be made of. `problems` has at least one."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        assert self.problems, "an error must name a problem"
        super().__init__("\n".join(_lines(self.problems)))


def and_more(place: str, count: int, *, at_least: bool = False) -> Problem:
    """Return one problem that stands for so many others of that place."""
    return Problem(place, _more(count, at_least), stands_for=count, at_least=at_least)


def twice(place: str, words: Iterable[str]) -> list[Problem]:
    """Return a problem for each word that occurs more than once: it is probably a mistake."""
    often = Counter(words)
    return [
        Problem(place, f"{brief(word)} is named {'twice' if count == 2 else f'{count:,} times'}")
        for word, count in often.items()
        if count > 1
    ]


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


def unknown(place: str, kind: str, word: str, choices: Sequence[str]) -> Problem:
    """`word` names no `kind` (`layout`, `layout of rabbitmq-mirrored`): the valid ones, and which
    was probably meant."""
    noun, _, owner = kind.partition(" of ")
    text = f"{owner} has no {noun} {brief(word)}" if owner else f"there is no {kind} {brief(word)}"
    return none_of(place, text, word, choices, kind)


def none_of(place: str, text: str, word: str, choices: Sequence[str], kind: str = "") -> Problem:
    """Return that `word` is none of the choices. `kind`: of what, if a command lists them all;
    then only those near the word, or the first ones, are shown if there are many."""
    guess, advice = nearest(word, choices), listing(kind)
    if not advice or len(choices) <= _SHOWN_MAX:
        return Problem(place, text, tuple(choices), guess, advice=advice)
    near = get_close_matches(word[:_WORD_MAX], choices, n=_NEAR_MAX, cutoff=0.5)
    near = near or [*choices[:_NEAR_MAX]]
    rest = len(choices) - len(near)
    return Problem(place, text, tuple(near), guess, advice=advice, unlisted=rest)


def listing(kind: str) -> str:
    """Return which command lists everything of a kind, or ""."""
    noun, _, owner = kind.partition(" of ")
    if owner and noun == "layout":
        return f"`mqproof list layouts --system {owner}` describes each"
    return _LISTS.get(kind, "")


def unreadable(place: str, reason: object, expected: str, advice: str = "") -> Problem:
    """A file that cannot be read. `advice` follows only where the file is missing."""
    is_missing = str(reason) == _MISSING
    what_to_do = "; ".join(part for part in (CHECK_PATH, advice) if part) if is_missing else ""
    text = f"cannot be read: {reason}"
    return Problem(place, text, expected=expected, advice=what_to_do)


def no_folder(place: str, folder: object, expected: str, advice: str = "") -> Problem:
    """A folder that does not exist."""
    what_to_do = "; ".join(part for part in (CHECK_PATH, advice) if part)
    return Problem(place, f"there is no folder {folder}", expected=expected, advice=what_to_do)


def nearest(word: str, choices: Sequence[str]) -> str:
    """The choice that `word` is probably a misspelling of, or was renamed to, or ""."""
    if OF_USERS.get(word) in choices:
        return OF_USERS[word]
    if len(word) > _WORD_MAX:
        return ""
    found = get_close_matches(word, choices, n=1, cutoff=0.6)
    return found[0] if found else ""


def _lines(problems: Sequence[Problem]) -> Iterator[str]:
    """Yield a line for each problem, up to LISTED_MAX. Long choices, and what to do about them,
    are listed once."""
    listed: dict[tuple[str, ...], str] = {}  # by choices the place that has them
    advised: set[str] = set()
    for one in problems[:LISTED_MAX]:
        again = len(one.choices) > _REPEATED_MAX and one.choices in listed
        as_before = (f"as for {listed[one.choices]}",) if again else one.choices
        short = replace(one, choices=as_before, unlisted=0 if again else one.unlisted)
        yield str(replace(short, advice="") if one.advice in advised else short)
        if one.place:
            listed.setdefault(one.choices, one.place)
        advised.update({one.advice} if one.unlisted or one.choices else ())
    if rest := problems[LISTED_MAX:]:
        count = sum(one.stands_for for one in rest)
        yield _more(count, any(one.at_least for one in rest))


def _more(count: int, at_least: bool) -> str:
    return f"and {count:,} more{' at least' if at_least else ''}"
