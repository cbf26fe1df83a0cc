"""PURE: what a scenario may say of a fault in addition to kind, target and window.

1. Each kind declares the type of its options; each of its faults carries a value of that type.
2. A key of a scenario has one declaration, an Option, whichever kinds take it.
3. A field belongs to the kind whose type has it. Other code asks what all options answer.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Protocol, Self

GENERAL = ("kind", "target", "opens", "lasts", "returns")  # the keys of every fault
_OPTION = "option"  # in the metadata of a field


@dataclass(frozen=True, slots=True)
class Option:
    """A key that a scenario may give a fault: one of its `choices`, a length of time in seconds
    (its default is a float) or a whole number. A default of 0 stands for a key that is absent."""

    key: str
    meaning: str  # in docs/keys.md
    default: str | float
    choices: tuple[str, ...] = ()
    least: float = 0.0  # less, or more than `most`, could not be told from nothing
    most: float = inf

    @property
    def is_length(self) -> bool:
        return isinstance(self.default, float)

    def field(self) -> Any:
        """Return the field of a type of options that this key sets."""
        return dataclasses.field(default=self.default, metadata={_OPTION: self})


class HasOptions(Protocol):
    """A fault that was planned, resolved or armed."""

    @property
    def options(self) -> "FaultOptions": ...


@dataclass(frozen=True, slots=True)
class FaultOptions:
    """The options of a fault whose kind takes none, and the answers of every fault's options.

    A kind that takes some declares a frozen dataclass derived from this one, with `field()` of an
    Option for each key, and answers itself what its keys decide.
    """

    @classmethod
    def of(cls, fault: HasOptions) -> Self:
        """Return a fault's options, where its kind takes these."""
        assert isinstance(fault.options, cls), fault.options
        return fault.options

    @classmethod
    def by_field(cls) -> Mapping[str, Option]:
        """Return each field's option. Raise ValueError with a field that is of none."""
        fields = dataclasses.fields(cls)
        if strangers := [one.name for one in fields if _OPTION not in one.metadata]:
            raise ValueError(f"{cls.__name__}: no Option of {', '.join(strangers)}")
        return {field.name: field.metadata[_OPTION] for field in fields}

    @property
    def affected_clients(self) -> str:
        """Return whose links or processes the fault affects: `all`, `publishers`, `consumers`."""
        return CLIENTS.choices[0]

    @property
    def exhausted(self) -> str:
        """Return the resource that the host runs short of; "" if it runs short of none."""
        return ""

    @property
    def rhythm(self) -> tuple[float, float] | None:
        """Return (down_s, up_s) of a fault that comes and goes while its window is open."""
        return None

    @property
    def needs_greeting(self) -> str:
        """Return what is not verified where a server sends nothing without a request, and what to
        do; "" if all of it is verified there, too."""
        return ""

    @property
    def kernel_module(self) -> str:
        """Return the module of Linux by which the fault is done, beyond what every host of
        containers has; "" if it needs none."""
        return ""

    @property
    def contradiction(self) -> tuple[str, str]:
        """Return the key that contradicts another one, and why; two empty texts if none does."""
        return "", ""

    @property
    def beyond_commands(self) -> str:
        """Return why a user's own command cannot do it; "" if it can."""
        return ""

    def layout_problem(self, kind: str, hosts: int) -> str:
        """Return why so many hosts are too few; "" if they suffice. `kind`: of the fault."""
        del kind, hosts
        return ""

    def window_problem(self, lasts_s: float) -> str:
        """Return why the fault could not be verified in a window of this length; "" if it can."""
        del lasts_s
        return ""


CLIENTS = Option(
    "clients",
    "whose links or processes the fault affects",
    "all",
    ("all", "publishers", "consumers"),
)
# A busy machine stalls for less than the least; a proof of more than the most outlasts windows.
LATENCY = Option("latency", "50 ms to 5 s, in each direction", 0.0, least=0.05, most=5.0)


@dataclass(frozen=True, slots=True)
class AffectedClients(FaultOptions):
    """The options of a fault of clients or of their links."""

    clients: str = CLIENTS.field()

    @property
    def affected_clients(self) -> str:
        return self.clients


def milliseconds(seconds: float) -> int:
    """Return a length of time in the proxy's unit."""
    return round(seconds * 1000)
