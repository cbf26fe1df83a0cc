"""An operation of a scenario file: its keys, and checks of several of them together."""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from harness.outside.text import brief
from harness.plan.files.spans import Duration
from harness.plan.files.tables import Length, OneOf, Table
from harness.plan.files.targets import TargetForm
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import MISSING, TomlProblem
from harness.plan.operation_options import (
    AT_ONCE,
    FIRST_FIRST,
    HOW,
    IN_TURN,
    LAST_FIRST,
    NAME,
    OPTIONS,
    ORDER,
    PATTERN,
    WAITS,
)
from harness.plan.operations import OPERATIONS, Operation, parse_through
from harness.plan.problems import nearest

_PATTERN_MAX = 1_000
_WORDS_MAX = 64


def _pattern(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a regular expression in a text")
    if len(value) > _PATTERN_MAX:
        raise ValueError(f"must have {_PATTERN_MAX:,} characters at most, not {len(value):,}")
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{brief(value)} is no regular expression: {error}") from None
    return value


Word = Annotated[str, Field(max_length=_PATTERN_MAX)]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # as brokers' JSON has it


class OperationTable(Table):
    """Which of the options and targets a kind takes, `problems` checks."""

    kind: Annotated[str, BeforeValidator(OneOf(tuple(OPERATIONS)))] = Field(
        title="kind",
        description="what the operator does; [operations.md](operations.md) lists the kinds, "
        "their targets and their options",
    )
    target: Word = Field(default="", title="target", description="required by most kinds")
    at: Length = Field(default=Duration(), description="time after the end of the baseline")
    how: Annotated[str, BeforeValidator(OneOf(HOW.choices))] = Field(
        default=HOW.default, description="of a stop: `stop` sends SIGTERM, `kill` sends SIGKILL"
    )
    waits: Annotated[str, BeforeValidator(OneOf(WAITS.choices))] = Field(
        default=WAITS.default,
        description="how long mqproof waits: not at all, until it is done, or until the "
        "cluster matches its layout again",
    )
    order: Annotated[str, BeforeValidator(OneOf(ORDER.choices))] = Field(
        default=ORDER.default, description="of target `all`: the order of the hosts"
    )
    offline: bool = Field(default=False, description="run the command on a node that is down")
    through: Word = Field(
        default="",
        title="target",
        description="the host that executes the command; without it the first possible one",
    )
    name: str = Field(
        default=NAME.default,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$",
        description="name of the policy",
    )
    pattern: Annotated[str, BeforeValidator(_pattern)] = Field(
        default=PATTERN.default,
        title="regular expression",
        description="the policy applies to queues whose names match it",
    )
    definition: dict[Word, Word | Whole | Annotated[list[Word], Field(max_length=_WORDS_MAX)]] = (
        Field(
            default={},
            max_length=_WORDS_MAX,
            title="table",
            description="the policy's definition, in the broker's format",
        )
    )
    priority: int = Field(default=0, ge=0, le=1_000_000, description="priority of the policy")

    def problems(
        self, path: Path, queues: Sequence[str], faults: int, *, grouped: bool
    ) -> Iterator[TomlProblem]:
        """Check several keys together. `path`: of the table; `queues`: those of the workload;
        `faults`: how many the scenario has; `grouped`: whether it has consumer groups."""
        kind = OPERATIONS.get(self.kind or "")
        if kind is None:
            return
        yield from self._target_problems(path, kind, queues, faults)
        if grouped and TargetForm.QUEUE in kind.targets:
            text = f"a {kind.name} means one queue; with consumer groups mqproof judges none"
            yield TomlProblem((*path, "kind"), text)
        yield from self._option_problems(path, kind)

    def _target_problems(
        self, path: Path, kind: Operation, queues: Sequence[str], faults: int
    ) -> Iterator[TomlProblem]:
        word, place, forms = self.target, (*path, "target"), _forms(kind, queues)
        if word is None:
            return  # the shape says so
        if not word and forms:
            yield TomlProblem(place, MISSING, forms)
            return
        try:
            target = kind.target(word)
        except ValueError:
            refusal = "it means the whole cluster, and takes no target" if not forms else ""
            text = refusal or f"{brief(word)} is no target of a {kind.name}"
            yield TomlProblem(place, text, forms, nearest(word, forms))
            return
        if target.fault > faults:
            yield TomlProblem(place, f"there is no fault {target.fault}")
        if target.queue and queues and target.queue not in queues:
            text = f"the workload has no queue {brief(target.queue)}"
            yield TomlProblem(place, text, forms, nearest(word, forms))

    def _option_problems(self, path: Path, kind: Operation) -> Iterator[TomlProblem]:
        given = self.given
        for key in sorted(OPTIONS.keys() & given.keys() - set(kind.option_keys)):
            takers = tuple(one.name for one in OPERATIONS.values() if key in one.option_keys)
            text = f"a {kind.name} takes no {key}; only {', '.join(takers)} does"
            yield TomlProblem((*path, key), text, kind.option_keys)
        for key in kind.needs:
            if not given.get(key):
                yield TomlProblem((*path, key), f"an operation of kind {kind.name} needs {key}")
        yield from self._order_problems(path, kind)
        if "through" in kind.option_keys and "through" in given:
            yield from self._through_problems(path)

    def _order_problems(self, path: Path, kind: Operation) -> Iterator[TomlProblem]:
        order, place = self.order, (*path, "order")
        if "order" not in kind.option_keys or order == AT_ONCE:
            return
        if self.target != TargetForm.ALL:
            yield TomlProblem(place, "one host has no order; only 'all' has")
        elif order in (LAST_FIRST, FIRST_FIRST) and not kind.means_stopped:
            text = (
                f"{brief(order)} is for hosts that are down, and a {kind.name} means those that "
                "run"
            )
            yield TomlProblem(place, text, (AT_ONCE, IN_TURN))

    def _through_problems(self, path: Path) -> Iterator[TomlProblem]:
        """Check a host by its name; one that is down takes only offline orders."""
        word = self.through
        through = parse_through(word) if word else None
        is_down = through is not None and through.form is not TargetForm.HOST
        if is_down and self.offline is False:
            text = (
                f"{brief(word)} is down then, and only offline operations run on a host that is "
                "down"
            )
            yield TomlProblem((*path, "through"), text, ("a host's name",))


def _forms(kind: Operation, queues: Sequence[str]) -> tuple[str, ...]:
    """The words that it takes, with the workload's queues in their places."""
    forms: list[str] = []
    for form in kind.targets:
        named = (
            [form.replace(TargetForm.QUEUE, queue) for queue in queues]
            if TargetForm.QUEUE in form
            else []
        )
        forms += named or ["a host's name" if form is TargetForm.HOST else form.value]
    return tuple(forms)
