"""What we know cells to do: for regression, and kept apart from claims (expectations.toml).

Entries that were measured by published runs lie beside their pages; they come before the others.

1. A cell is scenario x system x layout x client; `*` in an entry stands for anything. For each
   claim the first entry that matches counts.
2. A cell without an entry, or with a verdict that no entry speaks of, is `new`, not passed.
3. Every repeat of a cell must do as its entry says. Where chance decides (two brokers race), an
   entry names each outcome that is known to come of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness.claims.judge import OF_WARNINGS, ClaimOutcome, ClaimVerdict
from harness.plan.files.toml_problems import validated
from harness.plan.model import Cell
from harness.plan.problems import PlanError, unknown

BY_HAND = Path(__file__).with_name("expectations.toml")
_BESIDE_PAGES = Path(__file__).parents[2] / "results" / "published" / "expectations.toml"
_IN_WHEELS = Path(__file__).with_name("measured.toml")  # pyproject.toml puts it there
MEASURED = _IN_WHEELS if _IN_WHEELS.exists() else _BESIDE_PAGES


class Standing(StrEnum):
    AS_EXPECTED = "as expected"
    DIFFERS = "differs"
    NOT_JUDGED = "not judged"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Known:
    """What a cell does about a claim: one outcome, or one of several where chance decides."""

    outcomes: tuple[ClaimOutcome, ...]

    def allows(self, outcome: ClaimOutcome) -> bool:
        return outcome in self.outcomes

    def __str__(self) -> str:
        return self.describe(warns=False)

    def describe(self, *, warns: bool) -> str:
        """Return the outcomes as people read them. `warns`: of a claim that predicts harm."""
        words = OF_WARNINGS if warns else {}
        return " or ".join(words.get(one, one.value) for one in self.outcomes)


@dataclass(frozen=True, slots=True)
class ExpectedCell:
    """What cells of this pattern are known to do."""

    cell: Cell  # patterns
    claims: Mapping[str, Known]
    why: str

    def matches(self, cell: Cell) -> bool:
        return all(fnmatchcase(word, one) for word, one in zip(cell, self.cell, strict=True))


class Deviation(NamedTuple):
    """How a claim is not as expected; "": the cell as a whole."""

    claim: str
    text: str

    def __str__(self) -> str:
        return f"{self.claim}: {self.text}" if self.claim else self.text


@dataclass(frozen=True, slots=True)
class CellResult:
    """A cell's runs against its expectation. `differing`: the claims with another verdict than the
    expected one."""

    cell: Cell
    standing: Standing
    deviations: tuple[Deviation, ...]
    known: Mapping[str, Known]  # of each judged claim that an entry covers
    differing: frozenset[str] = frozenset()

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(map(str, self.deviations))


class Expectations:
    """The entries of an expectations file, in their order."""

    def __init__(self, entries: Iterable[ExpectedCell]) -> None:
        self.entries = tuple(entries)

    def expected(self, cell: Cell, claim: str) -> Known | None:
        """Return what this cell is known to do about a claim; None if unknown."""
        found = (
            entry.claims[claim]
            for entry in self.entries
            if claim in entry.claims and entry.matches(cell)
        )
        return next(found, None)

    def speak_of(self, cell: Cell) -> bool:
        """Return whether entries name the cell's scenario and its system, other than by `*`."""
        found = [entry.cell for entry in self.entries if entry.matches(cell)]
        return all(any(one[part] != "*" for one in found) for part in (0, 1))

    def compare(self, cell: Cell, runs: Iterable[Iterable[ClaimVerdict]]) -> CellResult:
        """The runs of one cell (one a repeat) against what is known of it."""
        results: list[tuple[Standing, Deviation | None]] = []
        differing: set[str] = set()
        runs = [list(verdicts) for verdicts in runs]
        expected = {one.claim: self.expected(cell, one.claim) for one in chain(*runs)}
        if not runs or any(not verdicts for verdicts in runs):
            results.append(
                (Standing.NOT_JUDGED, Deviation("", "a run of this cell was not judged"))
            )
        if any(entry.matches(cell) for entry in self.entries):
            for verdicts in runs:
                broke_off = _broke_off(verdicts)
                stand = {
                    one.claim: _stand(one, expected[one.claim], broke_off) for one in verdicts
                }
                results += stand.values()
                differing |= {claim for claim, one in stand.items() if one[0] is Standing.DIFFERS}
        else:
            results.append((Standing.NEW, Deviation("", _of_a_new_cell(chain(*runs)))))
        standing = max((one for one, _ in results), key=_ORDER.index, default=Standing.NOT_JUDGED)
        # What decided comes first.
        results.sort(key=lambda one: _ORDER.index(one[0]), reverse=True)
        deviations = tuple(dict.fromkeys(one for _, one in results if one is not None))
        known = {claim: known for claim, known in expected.items() if known is not None}
        return CellResult(cell, standing, deviations, known, frozenset(differing))


def _of_a_new_cell(verdicts: Iterable[ClaimVerdict]) -> str:
    """Return the verdicts that did not pass; the others stand elsewhere and would hide them."""
    usual = (ClaimOutcome.PASS, ClaimOutcome.NOT_APPLICABLE)
    rest = dict.fromkeys(f"{one.claim} {one.word}" for one in verdicts if one.outcome not in usual)
    return f"no expectation covers this cell{': ' if rest else ''}{', '.join(rest)}"


def _broke_off(verdicts: Iterable[ClaimVerdict]) -> bool:
    """Return whether nothing of a run could be judged. What it did not come to is not applicable,
    and shows nothing."""
    outcomes = {one.outcome for one in verdicts}
    return outcomes <= {ClaimOutcome.INCONCLUSIVE, ClaimOutcome.NOT_APPLICABLE} and (
        ClaimOutcome.INCONCLUSIVE in outcomes
    )


def _stand(
    verdict: ClaimVerdict, expected: Known | None, broke_off: bool
) -> tuple[Standing, Deviation | None]:
    if expected is None:
        if verdict.outcome is ClaimOutcome.NOT_APPLICABLE:
            return Standing.AS_EXPECTED, None
        text = f"{verdict.word}, no expectation covers it"
        return Standing.NEW, Deviation(verdict.claim, text)
    if expected.allows(verdict.outcome):
        return Standing.AS_EXPECTED, None
    text = f"{verdict.word}, expected {expected.describe(warns=verdict.warns)}"
    found = Deviation(verdict.claim, text)
    if verdict.outcome is ClaimOutcome.INCONCLUSIVE or broke_off:
        return Standing.NOT_JUDGED, found
    return Standing.DIFFERS, found


_ORDER = (Standing.AS_EXPECTED, Standing.NEW, Standing.NOT_JUDGED, Standing.DIFFERS)


def shipped(claims: Iterable[str]) -> Expectations:
    """The expectations that come with mqproof; `claims`: the names that may stand in them."""
    names, files = tuple(claims), (MEASURED, BY_HAND)
    found = (read_expectations(one.read_text(encoding="utf-8"), one.name, names) for one in files)
    return Expectations(entry for one in found for entry in one.entries)


def read_expectations(source: str, file: str, claims: Iterable[str]) -> Expectations:
    """The expectations of a TOML text. Raises PlanError with every problem in it."""
    document = validated(_ExpectationsFile, source, file)
    names = tuple(claims)
    problems = [
        unknown(f"{file}, [[cell]] {number}", "claim", claim, names)
        for number, cell in enumerate(document.cell, start=1)
        for claim in (*cell.passes, *cell.claims)
        if claim not in names
    ]
    if problems:
        raise PlanError(problems)
    return Expectations(_entry(table) for table in document.cell)


_Word = Literal["PASS", "FAIL", "INCONCLUSIVE", "NOT APPLICABLE"]


class _CellTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    scenario: str = "*"
    system: str = "*"
    layout: str = "*"
    client: str = "*"
    why: Annotated[str, Field(min_length=1)]
    passes: list[str] = []  # claims
    claims: dict[str, _Word | Annotated[list[_Word], Field(min_length=2)]] = {}

    @model_validator(mode="after")
    def _speaks_once(self) -> Self:
        if not self.passes and not self.claims:
            raise ValueError("it speaks of no claim: `passes` or `claims` has to")
        if twice := sorted({*self.passes} & {*self.claims}):
            raise ValueError(f"stands in `passes` and in `claims`: {', '.join(twice)}")
        return self


class _ExpectationsFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    cell: list[_CellTable]


def _entry(table: _CellTable) -> ExpectedCell:
    claims = dict.fromkeys(table.passes, Known((ClaimOutcome.PASS,)))
    claims |= {claim: _known(words) for claim, words in table.claims.items()}
    return ExpectedCell(
        (table.scenario, table.system, table.layout, table.client), claims, table.why
    )


def _known(words: str | list[_Word]) -> Known:
    return Known(
        tuple(ClaimOutcome(word) for word in ([words] if isinstance(words, str) else words))
    )
