"""Claims: promises about high availability, with their sources (claims.toml).

1. The same text applies to every system: a precondition names facts, never a system or a layout.
2. A predicate is a list of `fact comparator value`; all must hold.
3. A fact that does not exist is an error that names the existing ones: mqproof's own, and those
   that packages bring.
4. A claim says whether it is about all cases or about some: that decides what refutes it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from harness.claims.articles import Article, Compared, Unjudged
from harness.claims.values import COMPARATORS, exactly, holds
from harness.outside.text import brief
from harness.plan.declared import Declared
from harness.plan.facts import Fact
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import (
    TomlProblem,
    document_of,
    located,
    of_shape,
    validated,
)
from harness.plan.problems import PlanError, none_of, unknown
from harness.plan.vocabulary import FACTS, NOTHING_BROKEN, STEADY_STATE, fact

_FILE = "claims.toml"
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_CONDITION = re.compile(r"\s*([a-z_][a-z0-9_.]*)\s*(==|!=|<=|>=|<|>)\s*(\S.*?)\s*")


@dataclass(frozen=True, slots=True)
class Condition:
    """`fact comparator value`; several words after == are alternatives (`kill | partition`)."""

    fact: str
    comparator: str
    wanted: tuple[bool | str | float, ...]
    text: str

    @property
    def of_window(self) -> bool:
        known = fact(self.fact)
        return known is not None and known.of_window

    @property
    def excludes_a_fault(self) -> bool:
        """Return whether it holds where there is no fault: `fault_kind != client_crash`."""
        return self.of_window and self.comparator == "!="


@dataclass(frozen=True, slots=True)
class Claim:
    """Sentence, source, precondition, predicate."""

    name: str
    sentence: str  # as the source has it
    meaning: str  # the sentence in English
    source: str  # the article, and the section of it
    also: tuple[str, ...]  # other sources that say the same
    precondition: tuple[Condition, ...]
    predicate: tuple[Condition, ...]
    known: str  # what is known about it already; "" where nothing is
    warns: bool = False  # it predicts harm: where it is false, the broker was better than that
    some: bool = False  # one example proves it ("may lose"), and none refutes it
    beside_others: bool = False  # it speaks of faults that are in force at the same time
    beside_dead: bool = False  # it speaks of nodes that had ended before, and are down still

    @property
    def is_promise(self) -> bool:
        """Return whether one counterexample refutes it."""
        return not (self.warns or self.some)

    @property
    def of_windows(self) -> bool:
        return any(one.of_window for one in (*self.precondition, *self.predicate))

    @property
    def of_steady_state(self) -> bool:
        """It speaks of runs, or times of a run, in which nothing is broken."""
        names = [one.fact for one in (*self.precondition, *self.predicate)]
        return not self.of_windows and any(
            name in NOTHING_BROKEN or name in STEADY_STATE for name in names
        )


@dataclass(frozen=True, slots=True)
class Beside:
    """The contents of claims.toml beside the claims that a single run can show."""

    articles: tuple[Article, ...]
    compared: tuple[Compared, ...]
    unjudged: tuple[Unjudged, ...]


def shipped() -> tuple[Claim, ...]:
    """The claims that come with mqproof."""
    return read_claims(_text(), _FILE)


def shipped_beside() -> Beside:
    """Return the articles, the comparisons of layouts, and the sentences that are not judged."""
    return read_beside(_text())


def read_beside(source: str) -> Beside:
    """Return what stands beside the claims in a TOML text that `read_claims` has read."""
    document = validated(_ClaimsFile, source, _FILE)
    return Beside(tuple(document.article), tuple(document.compared), tuple(document.unjudged))


def _text() -> str:
    return resources.files("harness.claims").joinpath(_FILE).read_text(encoding="utf-8")


def read_claims(
    source: str,
    file: str,
    brought: Mapping[str, Fact] = MappingProxyType({}),
    taken: Collection[str] = (),
) -> tuple[Claim, ...]:
    """Return the claims of a TOML text. `brought`: facts of packages, which it may name, too;
    `taken`: names that its claims may not have.

    Raise PlanError with every problem in it.
    """
    document = document_of(source, file, _ClaimsFile)
    wrong = [*_problems(document, brought, taken)]
    try:
        tables = _ClaimsFile.model_validate(document).claim
    except ValidationError as error:
        wrong = [*of_shape(error, _ClaimsFile), *wrong]
        tables = []
    if wrong:
        raise PlanError(located(wrong, source, file))
    return tuple(_claim(table, brought) for table in tables)


def parse_condition(text: str, brought: Mapping[str, Fact] = MappingProxyType({})) -> Condition:
    """The condition that a text states. ValueError says what is wrong with it."""
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not `fact comparator value` ({' '.join(COMPARATORS)})")
    name, comparator, words = match.groups()
    known = fact(name) or brought.get(name)
    if known is None:
        raise ValueError(str(unknown("", "fact", name, (*FACTS, *brought))))
    if comparator not in ("==", "!=") and known.kind is not float:
        raise ValueError(f"{text!r}: {name} is no number, so only == and != are allowed")
    wanted = tuple(_wanted(word.strip(), known, text) for word in words.split("|"))
    if len(wanted) > 1 and (comparator != "==" or known.kind is not str):
        raise ValueError(f"{text!r}: alternatives go with == and words only")
    return Condition(name, comparator, wanted, text.strip())


def _wanted(word: str, known: Fact, text: str) -> bool | str | float:
    if known.kind is bool:
        if word not in ("true", "false"):
            raise ValueError(f"{text!r}: true or false is expected, not {word!r}")
        return word == "true"
    if known.kind is float:
        try:
            return float(word)
        except ValueError:
            raise ValueError(f"{text!r}: a number is expected, not {word!r}") from None
    if known.words and word not in known.words:
        what = f"{text!r}: {brief(word)} is no value of this fact"
        raise ValueError(str(none_of("", what, word, known.words)))
    return word


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        rule = "must have small letters, digits and hyphens, a letter first"
        raise ValueError(f"{rule}, not {brief(value)}")
    return value


class _ClaimTable(_Table):
    name: Annotated[str, AfterValidator(_name)]
    sentence: Annotated[str, Field(min_length=1)]
    meaning: str = ""
    source: Annotated[str, Field(min_length=1)]
    section: str = ""
    also: list[str] = []
    precondition: list[str] = []
    predicate: Annotated[list[str], Field(min_length=1)]
    known: str = ""
    warns: bool = False
    quantifier: Literal["all", "some"]
    beside_others: bool = False
    beside_dead: bool = False


class _ClaimsFile(_Table):
    claim: list[_ClaimTable]
    article: list[Article] = []
    compared: list[Compared] = []
    unjudged: list[Unjudged] = []


_NAMED = ("claim", "compared", "unjudged")
_CONDITIONS = ("precondition", "predicate")


def _problems(
    document: Mapping[str, Any], brought: Mapping[str, Fact], taken: Collection[str]
) -> Iterator[TomlProblem]:
    """Yield what is wrong beside the shape, which may be wrong, too."""
    articles = tuple(str(one.get("name")) for _, one in _tables(document, "article"))
    seen: set[str] = set()
    for path, table in (found for kind in _NAMED for found in _tables(document, kind)):
        name, source, place = table.get("name"), table.get("source"), (*path, "name")
        if isinstance(name, str):
            if name in taken:
                text = f"the claim {name!r} is there already"
                yield TomlProblem(place, text, advice="choose another name")
            if name in seen:
                yield TomlProblem(place, f"claim {name!r} stands there twice")
            seen.add(name)
        if isinstance(source, str) and table.get("section") and source not in articles:
            found = unknown("", "article", source, articles)
            advice = "add an [[article]] of this name" if not articles else ""
            yield TomlProblem(
                (*path, "source"), found.text, found.choices, found.guess, advice=advice
            )
    for path, table in _tables(document, "claim"):
        for key in _CONDITIONS:
            yield from _condition_problems((*path, key), table.get(key), brought)


def _condition_problems(
    path: Path, texts: object, brought: Mapping[str, Fact]
) -> Iterator[TomlProblem]:
    for number, text in enumerate(texts if isinstance(texts, list) else ()):
        if not isinstance(text, str):
            continue  # its shape is wrong, which is reported as such
        try:
            parse_condition(text, brought)
        except ValueError as error:
            yield TomlProblem((*path, number), str(error))


def _tables(document: Mapping[str, Any], kind: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield each table of a list of tables, with its path."""
    found = document.get(kind)
    for number, table in enumerate(found if isinstance(found, list) else ()):
        if isinstance(table, dict):
            yield (kind, number), table


def _claim(table: _ClaimTable, brought: Mapping[str, Fact]) -> Claim:
    return Claim(
        name=table.name,
        sentence=table.sentence,
        meaning=table.meaning or table.sentence,
        source=f"{table.source}, {table.section}" if table.section else table.source,
        also=tuple(table.also),
        precondition=tuple(parse_condition(text, brought) for text in table.precondition),
        predicate=tuple(parse_condition(text, brought) for text in table.predicate),
        known=table.known,
        warns=table.warns,
        some=table.quantifier == "some",
        beside_others=table.beside_others,
        beside_dead=table.beside_dead,
    )


# --- The claims that can apply to a system at all, by the declarations of its layouts ------------
# 1. A claim is left out only if a condition on a declared fact is false, or makes no sense, on
#    every layout. A condition that only a run decides leaves none out.


Facts = Mapping[str, Declared]


def concerning(claims: Iterable[Claim], layouts: Iterable[Facts]) -> list[Claim]:
    """Return the claims that may apply on one of the layouts, in their order."""
    every = list(layouts)
    return [claim for claim in claims if any(_may_apply(claim, facts) for facts in every)]


def _may_apply(claim: Claim, facts: Facts) -> bool:
    for condition in claim.precondition:
        declared = facts.get(condition.fact)
        if isinstance(declared, dict):
            if "not_applicable" in declared:
                return False
            continue  # a bound: a run knows more
        if declared is None:
            continue
        value = declared if isinstance(declared, bool | str) else exactly(declared)
        if holds(value, condition.comparator, condition.wanted) is False:
            return False
    return True
