"""A fault of a scenario file: its keys, and checks of several of them together."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Field, create_model

from faults.core.kind import Kind
from faults.core.options import FaultOptions
from faults.kinds import KINDS, OPTIONS, REGISTRY
from harness.outside.text import brief
from harness.plan.files import fault_options
from harness.plan.files.fault_options import limit_problem, options_of
from harness.plan.files.spans import Duration
from harness.plan.files.tables import Length, OneOf, Table
from harness.plan.files.targets import Target, parse_target
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import TomlProblem


def _kind(value: object) -> str:
    spoilt = REGISTRY.spoilt.get(value, "") if isinstance(value, str) else ""
    if spoilt and value not in KINDS:
        raise ValueError(spoilt)
    return OneOf(tuple(KINDS))(value)


def _target(value: object) -> Target:
    if not isinstance(value, str):
        raise ValueError("must be a target word")
    return parse_target(value)


class GeneralFaultTable(Table):
    """The keys of every fault. FaultTable has those that some kind takes, too
    (faults/core/options.py); `problems` checks which of them a fault's own kind takes."""

    kind: Annotated[str, BeforeValidator(_kind)] = Field(
        title="kind",
        description="what breaks; [faults.md](faults.md) lists the kinds and the options of each",
    )
    target: Annotated[Target, BeforeValidator(_target)] = Field(
        title="target",
        description='what it breaks; see "Targets" in [scenarios.md](scenarios.md)',
    )
    opens: Length = Field(
        default=Duration(),
        description="time after the end of the baseline; mqproof waits longer if an earlier "
        "fault should have ended by then and has not",
    )
    lasts: Length = Field(description="length of the fault")
    returns: bool = Field(
        default=True, description="`false`: the target stays down; only kinds that allow it"
    )

    @property
    def known_kind(self) -> Kind | None:
        """Return the kind that the table names; None if there is none."""
        return KINDS.get(self.kind or "")

    def options(self, kind: Kind) -> FaultOptions | None:
        """Return the options of the fault; None if one of them cannot be read."""
        values = dict(self)
        if any(values[key] is None for key in kind.option_keys if key in self.given):
            return None
        return options_of(kind, values)

    def problems(self, path: Path) -> Iterator[TomlProblem]:
        """Check several keys together. `path`: of the table."""
        kind = self.known_kind
        options = None if kind is None else self.options(kind)
        if kind is not None:
            yield from self._option_problems(path, kind)
        if options is not None and options.contradiction[0]:
            key, why = options.contradiction
            yield TomlProblem((*path, key), why)
        if text := self._window_problem(options):
            yield TomlProblem((*path, "lasts"), text)

    def _window_problem(self, options: FaultOptions | None) -> str:
        if self.lasts == Duration():
            return "a window of no length shows nothing"
        # A length in layout timers is checked on each layout.
        if options is None or self.lasts is None or self.lasts.timers:
            return ""
        return options.window_problem(self.lasts.seconds)

    def _option_problems(self, path: Path, kind: Kind) -> Iterator[TomlProblem]:
        own, given = kind.option_keys, self.given
        for key in OPTIONS.keys() & given.keys() - set(own):
            takers = tuple(one.name for one in KINDS.values() if key in one.option_keys)
            text = f"a {kind.name} takes no {key}; only {', '.join(takers) or 'nothing'} does"
            yield TomlProblem((*path, key), text, own)
        for key in own:
            if key in given and (text := limit_problem(OPTIONS[key], given[key])):
                yield TomlProblem((*path, key), f"{text}, not {brief(given[key])}")
        if kind.needs and not given.keys() & set(kind.needs):
            yield TomlProblem(
                (*path, "kind"), f"a fault of kind {kind.name} needs {' or '.join(kind.needs)}"
            )
        if set(kind.needs_all) - given.keys():
            needs = " and ".join(kind.needs_all)
            yield TomlProblem((*path, "kind"), f"a fault of kind {kind.name} needs {needs}")
        if "returns" in given and not kind.may_stay:
            stayers = " or ".join(one.name for one in KINDS.values() if one.may_stay)
            text = f"a {kind.name} always ends; only a {stayers} may never return"
            yield TomlProblem((*path, "returns"), text)


# A type checker cannot know the keys of kinds that other packages bring.
if TYPE_CHECKING:
    FaultTable = GeneralFaultTable
else:
    FaultTable = create_model("FaultTable", __base__=GeneralFaultTable, **fault_options.keys())
