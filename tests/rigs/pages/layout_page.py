"""The documentation's page of layouts, as Markdown: which layout answers what, and what it plays.

`python -m tests.rigs.pages.layout_page > docs/layouts.md` generates the page; a test compares.
"""

import re
from collections.abc import Iterator, Sequence
from importlib import resources

from faults.core.mechanisms import EXTERNAL
from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.files.toml import read_scenario
from harness.plan.model import Layout, Scenario, System
from harness.report import markdown
from harness.systems.catalogue import layout_names, load_layout, load_system, system_names
from harness.view.grouping import by_key
from tests.rigs.pages.names import code

_HEAD = """\
# Which layout for what

*Made by `python -m tests.rigs.pages.layout_page > docs/layouts.md`; a test compares.*

A layout says which hosts a cluster has, what runs on them and how it replicates.
`--layout NAME@PROFILE` chooses one; repeat it for several. Without it a run uses the system's
default layout. A profile sets the timers: `T` is the time after which a silent peer counts as
failed.
Use a profile with a short T for quick runs, and `@T=60` (RabbitMQ) or `@default` (RocketMQ) for
the product's own timers.

## Start from the question
"""

# A line of systems begins what follows; the layouts stand below their question.
_GUIDE = """\
for rabbitmq-mirrored reference-mirrored
Does a fully mirrored queue keep what it confirmed? all-automatic
What is lost without any copy? unmirrored
What is lost if the master fails before its mirrors are synchronised? exactly-2-manual all-manual
Does an unsynchronised mirror take over after a stop, or after a crash?
  exactly-2-manual-promote-always exactly-2-manual-promote-synced
What does a network partition do, by partition handling?
  all-automatic all-automatic-ignore all-automatic-autoheal all-automatic-pause-if-all-down
What does a partition do to two nodes? all-automatic-2 all-automatic-2-pause
Which partitions need five nodes? all-automatic-5
What if links between brokers are slow? all-automatic-toxiproxy
What if clients know one node only? all-automatic-one
What if clients connect through a load balancer, and it fails?
  all-automatic-haproxy all-automatic-haproxy-pair
What happens while a node is added? all-automatic-spare
What if a backlog exceeds the memory of the brokers? all-automatic-low-memory
What does each mirror cost in throughput? unmirrored-5 mirrors-0 mirrors-1 mirrors-2 mirrors-4
for rabbitmq-quorum
How do quorum queues compare? three three-pause-minority
How many failures do quorum queues survive? five three-of-five
Does Khepri change what quorum queues do? three-khepri
What if a backlog exceeds the memory of the brokers? three-low-memory
for rabbitmq-stream
How do streams compare? three three-pause-minority
How many failures do streams survive? five
for rocketmq-2m2s reference-2m2s
Does a confirm that waits for a slave lose less than one that does not?
  colocated colocated-async colocated-flush
What if a name server and a master share a host, or do not? colocated separated
What if there is one master, and an operator promotes its slave? one-group one-group-async
for rocketmq-2m2s
Does RocketMQ 5 behave differently? colocated-v5 separated-v5 one-group-v5
for rocketmq-dledger reference-dledger
What does a DLedger group do when its leader fails? colocated separated two-groups
for reference-dledger
How many failures does a group of five survive? five
for rocketmq-controller
What does a controller elect, and what may be lost by it?
  separated separated-one-in-sync separated-two-in-sync separated-unclean
What if the controllers fail? controllers-apart
for reference-ctgmq
What does a group do whose name servers replace its master?
  colocated separated colocated-two-in-sync
What if two name servers elect, or three? two-name-servers colocated
What if a former master cuts its log at SlaveAckOffset?
  colocated-slave-ack three-replicas three-replicas-slave-ack
"""


def guide() -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    """Yield each question, its systems, and the layouts that answer it."""
    for group in re.split("^for ", _GUIDE, flags=re.MULTILINE)[1:]:
        systems, _, rest = group.partition("\n")
        for question, layouts in re.findall(r"(\S.*?\?)\s+(.+)", rest):
            yield question, systems.split(), layouts.split()


def page() -> str:
    systems = [load_system(name) for name in system_names()]
    layouts = {
        system.name: [load_layout(system.name, label) for label in layout_names(system.name)]
        for system in systems
    }
    tables = (*_layout_tables(systems, layouts), *_scenario_table(systems, layouts))
    return "\n".join((_HEAD, *_guide(), *tables, ""))


def _guide() -> Iterator[str]:
    yield from markdown.head("question", "systems", "layouts")
    for question, systems, names in guide():
        yield markdown.row((question, code(systems), code(names)))


def _layout_tables(systems: Sequence[System], layouts: dict[str, list[Layout]]) -> Iterator[str]:
    yield "\n## Every layout"
    for system in systems:
        yield f"\n### `{system.name}`: {system.title}\n"
        yield f"The default layout is `{system.default_layout}`.\n"
        yield from markdown.head("layout", "what it is", "profiles")
        for name, found in by_key(layouts[system.name], lambda one: one.name).items():
            labels = code(f"@{one.profile}" for one in found)
            yield markdown.row((f"`{name}`", found[0].title, labels))


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
    yield from markdown.head("scenario", *(f"`{one.name}`, {where}" for one, where in columns))
    for scenario in _scenarios():
        cells = (_runs_on(scenario, *column, layouts[column[0].name]) for column in columns)
        yield markdown.row((f"`{scenario.name}`", *cells))


def _runs_on(
    scenario: Scenario, system: System, deployment: str, layouts: Sequence[Layout]
) -> str:
    """Return on how many of the layouts the scenario runs, each with its first profile."""
    firsts = {layout.name: layout for layout in reversed(layouts)}.values()
    client = chosen_client(system.clients[0])
    fit = sum(not obstacles(scenario, system, one, client, deployment) for one in firsts)
    return "all" if fit == len(firsts) else f"{fit} of {len(firsts)}" if fit else "-"


def _scenarios() -> Iterator[Scenario]:
    folder = resources.files("harness.plan").joinpath("scenarios")
    names = (entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    for name in sorted(name.removesuffix(".toml") for name in names):
        yield read_scenario(name, folder.joinpath(f"{name}.toml").read_text(encoding="utf-8"))


if __name__ == "__main__":
    print(page(), end="")
