"""A family's own part of a scenario's workload: what it may say, and all that comes of it.

1. Whose client plays, his section counts; the others are ignored, and the manifest says so.
2. What a file leaves out is what an empty table says.
3. Nothing has a default: a family that leaves a question out cannot be declared.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from harness.plan.model import Workload
from harness.plan.servers import Servers
from harness.plan.tables import Table
from harness.plan.toml_problems import TomlProblem

T = TypeVar("T", bound=Table)
S = TypeVar("S")
Fact = bool | str | int | float | None
# What a section may count: facts that claims ask for, of every run.
COUNTED = (
    "delayed_messages",
    "messages_in_transactions",
    "messages_to_commit",
    "messages_to_ask",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section(Generic[T, S]):
    """`[workload.KEY]` of a scenario file, and the value `S` that it becomes."""

    key: str
    shape: type[T]  # every key of it has a default
    value: Callable[[T, bool], S]  # of a table, and whether the workload confirms
    # Keys that a client may be told by its name (told_otherwise.py): `S` is a dataclass then, and
    # has them by the same names.
    by_client: tuple[str, ...]
    # What hangs on several keys, of a whole document; what is missing or ill-typed is left to
    # shapes.
    problems: Callable[[dict[str, Any]], Iterable[TomlProblem]]
    says: Callable[[S], bool]  # something that is lost on clients of other families
    facts: Mapping[str, Callable[[S], Fact]]  # that claims ask for
    moot: str  # why nobody asks for them where clients are another family's
    asks: Callable[[S, Workload], Iterable[str]]  # capabilities, of the family's clients
    asks_of_all: Callable[[S], Iterable[str]]  # without which it is another workload
    # What a layout lacks of what it says, and where they contradict each other: each a reason.
    obstacles: Callable[[S, Servers], Iterable[str]]
    shows: Callable[[S], Iterable[str]]  # how the client differs by it: before a run, and after
    tells: Callable[[S, Servers], Mapping[str, Any]]  # to each worker, as JSON: WorkerConfig.own
    # How many messages are special in so many seconds of load: some of COUNTED.
    counts: Callable[[S, Workload, float], Mapping[str, int]]

    @property
    def place(self) -> str:
        return f"workload.{self.key}"

    def of(self, workload: Workload) -> S:
        """What the workload says by it."""
        if self.key in workload.sections:
            said: S = workload.sections[self.key]
            return said
        return self.value(self.shape(), workload.confirms)


Sections = Mapping[str, Section[Any, Any]]  # by their keys
