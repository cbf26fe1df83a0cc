"""A family's own part of a scenario's workload: what it may say, and all that comes of it.

1. Only the section of the client's family counts. The others are ignored, and the manifest says
   so.
2. If a file leaves a section out, it is read as an empty table.
3. Nothing has a default: a family that leaves a question out cannot be declared.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from harness.plan.facts import Fact
from harness.plan.files.shape import ScenarioTable
from harness.plan.files.tables import Table
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.servers import Servers
from harness.plan.workload import Workload

T = TypeVar("T", bound=Table)
S = TypeVar("S")
FactValue = bool | str | int | float | None
# What every section may count: facts of mqproof itself, which each run records.
COUNTED = (
    "delayed_messages",
    "messages_in_transactions",
    "messages_to_commit",
    "messages_to_check",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section(Generic[T, S]):
    """`[workload.KEY]` of a scenario file, and the value `S` that it becomes."""

    key: str
    shape: type[T]  # every key of it has a default
    value: Callable[[T, bool], S]  # of a table, and whether the workload confirms
    # Keys that may be options in a client's name (client_options.py). `S` is a dataclass then, and
    # has fields of the same names.
    by_client: tuple[str, ...]
    # What the section means to a client, by what that client can do (a capability in, whether it
    # can out): it may choose only what the scenario file leaves open.
    fitted: Callable[[S, Callable[[str], bool]], S]
    # Mistakes in a combination of keys, of its own table and the scenario's. Shapes find missing
    # and ill-typed keys; such a key is None here (Table.readable).
    problems: Callable[[T, ScenarioTable], Iterable[TomlProblem]]
    says: Callable[[S], bool]  # something that is lost on clients of other families
    # That claims use, by name: mqproof's own of this section, or some of `own_facts`.
    facts: Mapping[str, Callable[[S], FactValue]]
    # Type and meaning of each fact that mqproof itself does not have: of `facts` and `counted`.
    own_facts: Mapping[str, Fact]
    not_applicable: str  # why these facts do not apply to other families' clients
    requires: Callable[[S, Workload], Iterable[str]]  # capabilities, of the family's clients
    requires_of_all: Callable[[S], Iterable[str]]  # without which it is another workload
    # What a layout lacks of what it says, and where they contradict each other: each a reason.
    obstacles: Callable[[S, Servers], Iterable[str]]
    shows: Callable[[S], Iterable[str]]  # how the client differs by it: before a run, and after
    worker_options: Callable[
        [S, Servers], Mapping[str, Any]
    ]  # to each worker, as JSON: WorkerConfig.own
    # How many messages are special in so many seconds of load, by the names of `counted`.
    counts: Callable[[S, Workload, float], Mapping[str, int]]
    counted: tuple[str, ...]  # some of COUNTED, and numbers of `own_facts`

    @property
    def own_names(self) -> tuple[str, ...]:
        """Return the facts that apply to no client of another family."""
        own_counts = (name for name in self.counted if name in self.own_facts)
        return (*self.facts, *own_counts)

    @property
    def place(self) -> str:
        return f"workload.{self.key}"

    def of(self, workload: Workload) -> S:
        """Return the workload's value of this section."""
        if self.key in workload.sections:
            said: S = workload.sections[self.key]
            return said
        return self.value(self.shape(), workload.confirms)


Sections = Mapping[str, Section[Any, Any]]  # by their keys
