"""PURE: what a scenario may say of an operation in addition to kind, target and time.

1. Each kind declares the type of its options; each planned operation has a value of that type.
2. A key of a scenario has one declaration, an Option, whichever kinds take it. Fields have its
   name.
"""

from dataclasses import dataclass, fields
from typing import Any, Protocol, Self

from harness.plan.files.targets import Target
from harness.plan.layouts.layout_values import PolicyValue

STOP, KILL = "stop", "kill"
NO, DONE, CLEAN = "no", "done", "clean"
AT_ONCE, IN_TURN = "at once", "in turn"
LAST_FIRST, FIRST_FIRST = "last stopped first", "first stopped first"


@dataclass(frozen=True, slots=True)
class Option:
    """A key that a scenario may give an operation. No choices: a text, a number or a table."""

    key: str
    meaning: str
    default: Any
    choices: tuple[str, ...] = ()


HOW = Option("how", "end the process by SIGTERM (stop) or by SIGKILL (kill)", STOP, (STOP, KILL))
WAITS = Option(
    "waits",
    "wait not at all (no); until the operation is done (done: the process has ended, the "
    "broker serves, the mirrors are synchronised); or until the whole cluster is as its "
    "layout says (clean)",
    DONE,
    (NO, DONE, CLEAN),
)
ORDER = Option(
    "order",
    "in which order, with target `all`",
    AT_ONCE,
    (AT_ONCE, IN_TURN, LAST_FIRST, FIRST_FIRST),
)
OFFLINE = Option("offline", "the command is given to a node that is down", False)
THROUGH = Option("through", "the host that executes it; default: the first possible one", None)
NAME = Option("name", "the policy's name; default: that of the layout's own policy", "mqproof")
PATTERN = Option("pattern", "the pattern that the names of its queues match", r"^mqproof\.")
DEFINITION = Option("definition", "the policy's definition, in the broker's format", ())
PRIORITY = Option("priority", "if several policies match a queue, the highest priority counts", 0)
OPTIONS = {
    option.key: option
    for option in (HOW, WAITS, ORDER, OFFLINE, THROUGH, NAME, PATTERN, DEFINITION, PRIORITY)
}


class HasOptions(Protocol):
    """An operation that was planned."""

    @property
    def options(self) -> "OperationOptions": ...


@dataclass(frozen=True, slots=True)
class OperationOptions:
    """The options of an operation whose kind takes none."""

    @classmethod
    def of(cls, operation: HasOptions) -> Self:
        """Return an operation's options, where its kind takes these."""
        assert isinstance(operation.options, cls), operation.options
        return operation.options

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """Return the keys of a scenario that set these, in the order of OPTIONS."""
        own = {one.name for one in fields(cls)}
        return tuple(key for key in OPTIONS if key in own)


@dataclass(frozen=True, slots=True)
class WaitOptions(OperationOptions):
    """The options of an operation that takes effect some time after its order."""

    waits: str = WAITS.default


@dataclass(frozen=True, slots=True)
class StartOptions(WaitOptions):
    """The options of an operation that starts brokers."""

    order: str = ORDER.default


@dataclass(frozen=True, slots=True)
class StopOptions(StartOptions):
    """The options of an operation that stops brokers, whether it starts them again or not."""

    how: str = HOW.default


@dataclass(frozen=True, slots=True)
class ThroughOptions(OperationOptions):
    """The options of an operation that another host executes."""

    through: Target | None = THROUGH.default  # None: the first possible one


@dataclass(frozen=True, slots=True)
class ForgetOptions(ThroughOptions):
    """The options of the removal of a node."""

    offline: bool = OFFLINE.default


@dataclass(frozen=True, slots=True)
class PolicyNameOptions(OperationOptions):
    """The options of an operation on a policy that needs its name alone."""

    name: str = NAME.default


@dataclass(frozen=True, slots=True)
class PolicyOptions(PolicyNameOptions):
    """The options of an operation that says what a policy is."""

    pattern: str = PATTERN.default
    definition: tuple[tuple[str, PolicyValue], ...] = DEFINITION.default
    priority: int = PRIORITY.default
