"""The documentation's page of layouts, as Markdown: which layout answers what, and what it plays.

`python -m harness.report.layout_page > docs/layouts.md` generates the page; a test compares.
"""

from collections.abc import Iterator, Sequence
from importlib import resources
from itertools import groupby

from faults.mechanisms import EXTERNAL
from harness.plan.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.model import Layout, Scenario, System
from harness.plan.toml import read_scenario
from harness.systems.catalogue import layout_names, load_layout, load_system, system_names

_HEAD = """\
# Which layout for what

*Made by `python -m harness.report.layout_page > docs/layouts.md`; a test compares.*

A layout says which hosts a cluster has, what runs on them and how it replicates.
`--layout NAME@PROFILE` chooses one; repeat it for several. Without it a run uses the system's
default layout. A profile sets the timers: `T` is the time after which a silent peer counts as
failed.
Use a profile with a short T for quick runs, and `@T=60` (RabbitMQ) or `@default` (RocketMQ) for
the product's own timers.

## Start from the question
"""

# Question -> (systems, layouts). A test checks that every system has every layout of its row.
_RABBITMQ = ("rabbitmq-mirrored", "reference-mirrored")
_TWO_MASTERS = ("rocketmq-2m2s", "reference-2m2s")
GUIDE: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("Does a fully mirrored queue keep what it confirmed?", _RABBITMQ, ("all-automatic",)),
    ("What is lost without any copy?", _RABBITMQ, ("unmirrored",)),
    (
        "What is lost if the master fails before its mirrors are synchronised?",
        _RABBITMQ,
        ("exactly-2-manual", "all-manual"),
    ),
    (
        "Does an unsynchronised mirror take over after a stop, or after a crash?",
        _RABBITMQ,
        ("exactly-2-manual-promote-always", "exactly-2-manual-promote-synced"),
    ),
    (
        "What does a network partition do, by partition handling?",
        _RABBITMQ,
        (
            *("all-automatic", "all-automatic-ignore", "all-automatic-autoheal"),
            "all-automatic-pause-if-all-down",
        ),
    ),
    (
        "What does a partition do to two nodes?",
        _RABBITMQ,
        ("all-automatic-2", "all-automatic-2-pause"),
    ),
    ("Which partitions need five nodes?", _RABBITMQ, ("all-automatic-5",)),
    (
        "What if links between brokers are slow?",
        ("rabbitmq-mirrored", "reference-mirrored"),
        ("all-automatic-toxiproxy",),
    ),
    ("What if clients know one node only?", _RABBITMQ, ("all-automatic-one",)),
    (
        "What if clients connect through a load balancer, and it fails?",
        _RABBITMQ,
        ("all-automatic-haproxy", "all-automatic-haproxy-pair"),
    ),
    ("What happens while a node is added?", _RABBITMQ, ("all-automatic-spare",)),
    (
        "What does each mirror cost in throughput?",
        _RABBITMQ,
        ("unmirrored-5", "mirrors-0", "mirrors-1", "mirrors-2", "mirrors-4"),
    ),
    ("How do quorum queues compare?", ("rabbitmq-quorum",), ("three", "three-pause-minority")),
    (
        "How many failures do quorum queues survive?",
        ("rabbitmq-quorum",),
        ("five", "three-of-five"),
    ),
    ("Does Khepri change what quorum queues do?", ("rabbitmq-quorum",), ("three-khepri",)),
    ("How do streams compare?", ("rabbitmq-stream",), ("three", "three-pause-minority")),
    ("How many failures do streams survive?", ("rabbitmq-stream",), ("five",)),
    (
        "Does a confirm that waits for a slave lose less than one that does not?",
        _TWO_MASTERS,
        ("colocated", "colocated-async", "colocated-flush"),
    ),
    (
        "What if a name server and a master share a host, or do not?",
        _TWO_MASTERS,
        ("colocated", "separated"),
    ),
    (
        "What if there is one master, and an operator promotes its slave?",
        _TWO_MASTERS,
        ("one-group", "one-group-async"),
    ),
    (
        "Does RocketMQ 5 behave differently?",
        ("rocketmq-2m2s",),
        ("colocated-v5", "separated-v5", "one-group-v5"),
    ),
    (
        "What does a DLedger group do when its leader fails?",
        ("rocketmq-dledger", "reference-dledger"),
        ("colocated", "separated", "two-groups"),
    ),
    ("How many failures does a group of five survive?", ("reference-dledger",), ("five",)),
    (
        "What does a controller elect, and what may be lost by it?",
        ("rocketmq-controller",),
        ("separated", "separated-one-in-sync", "separated-two-in-sync", "separated-unclean"),
    ),
    ("What if the controllers fail?", ("rocketmq-controller",), ("controllers-apart",)),
    (
        "What does a group do whose name servers replace its master?",
        ("reference-ctgmq",),
        ("colocated", "separated", "colocated-two-in-sync"),
    ),
    (
        "What if two name servers elect, or three?",
        ("reference-ctgmq",),
        ("two-name-servers", "colocated"),
    ),
    (
        "What if a former master cuts its log at SlaveAckOffset?",
        ("reference-ctgmq",),
        ("colocated-slave-ack", "three-replicas", "three-replicas-slave-ack"),
    ),
)


def page() -> str:
    """Return docs/layouts.md."""
    systems = [load_system(name) for name in system_names()]
    layouts = {system.name: _layouts(system.name) for system in systems}
    return "\n".join(
        (
            _HEAD,
            *_guide(),
            *_layout_tables(systems, layouts),
            *_scenario_table(systems, layouts),
            "",
        )
    )


def _layouts(system: str) -> list[Layout]:
    return [load_layout(system, label) for label in layout_names(system)]


def _guide() -> Iterator[str]:
    yield "| question | systems | layouts |"
    yield "| --- | --- | --- |"
    for question, systems, names in GUIDE:
        yield f"| {question} | {_code(systems)} | {_code(names)} |"


def _layout_tables(systems: Sequence[System], layouts: dict[str, list[Layout]]) -> Iterator[str]:
    yield "\n## Every layout"
    for system in systems:
        yield f"\n### `{system.name}`: {system.title}\n"
        yield f"The default layout is `{system.default_layout}`.\n"
        yield "| layout | what it is | profiles |"
        yield "| --- | --- | --- |"
        for name, found in groupby(layouts[system.name], key=lambda one: one.name):
            profiles = list(found)
            labels = _code([f"@{one.profile}" for one in profiles])
            yield f"| `{name}` | {profiles[0].title} | {labels} |"


def _scenario_table(systems: Sequence[System], layouts: dict[str, list[Layout]]) -> Iterator[str]:
    columns = [
        (system, deployment)
        for system in systems
        for deployment in system.deployments
        if deployment != EXTERNAL
    ]
    yield "\n## Which scenario runs where\n"
    yield (
        "*all*: the scenario runs on every layout of the system. *2 of 23*: on two of its 23\n"
        "layouts. *-*: on none. The table uses each layout's first profile and each system's\n"
        "first client. `mqproof run SCENARIO --system SYSTEM --layout LAYOUT --dry-run`\n"
        "shows the reason.\n"
    )
    yield f"| scenario | {' | '.join(f'`{one.name}`, {where}' for one, where in columns)} |"
    yield f"| --- |{' --- |' * len(columns)}"
    for scenario in _scenarios():
        cells = [_runs_on(scenario, *column, layouts[column[0].name]) for column in columns]
        yield f"| `{scenario.name}` | {' | '.join(cells)} |"


def _runs_on(
    scenario: Scenario, system: System, deployment: str, layouts: Sequence[Layout]
) -> str:
    """Return on how many of the layouts the scenario runs, each with its first profile."""
    names = [next(found) for _, found in groupby(layouts, key=lambda one: one.name)]
    fit = [
        layout
        for layout in names
        if not obstacles(scenario, system, layout, chosen_client(system.clients[0]), deployment)
    ]
    return "all" if len(fit) == len(names) else f"{len(fit)} of {len(names)}" if fit else "-"


def _scenarios() -> Iterator[Scenario]:
    folder = resources.files("harness.plan").joinpath("scenarios")
    texts = {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    }
    for name in sorted(texts):
        yield read_scenario(name, texts[name])


def _code(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    print(page(), end="")
