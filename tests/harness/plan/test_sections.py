"""Parts of `[workload]` that belong to one family of clients."""

from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, replace
from typing import Literal

import pytest
from pydantic import Field

from harness.outside.installed import Offer
from harness.plan.clients import amqp
from harness.plan.clients.amqp_section import SECTION as AMQP
from harness.plan.clients.declaration import Client
from harness.plan.clients.registry import ClientRegistry, read, registry
from harness.plan.clients.requirements import chosen_client
from harness.plan.clients.rocketmq_section import SECTION as ROCKET
from harness.plan.clients.section import Section
from harness.plan.declared import declared
from harness.plan.facts import Fact
from harness.plan.files.shape import ScenarioTable
from harness.plan.files.tables import Table
from harness.plan.files.toml import read_scenario
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.model import RunPlan
from harness.plan.problems import PlanError
from harness.workers.clients.amqp import AmqpOptions
from tests.rigs.runs.plans import LAYOUT, SYSTEM, plan, workload

SMALL = """title = "small"
[workload]
queues = ["orders"]
publishers = 1
consumers = 1
rate = 100
"""


class Inner(Table):
    deep: Literal["a", "b"] = "a"


class AcmeTable(Table):
    depth: int = Field(default=7, ge=1, le=9)
    inner: Inner = Inner()


@dataclass(frozen=True, slots=True)
class Acme:
    depth: int
    confirms: bool


def problems_of(own: AcmeTable, scenario: ScenarioTable) -> Iterator[TomlProblem]:
    if own.depth == scenario.workload.rate:
        yield TomlProblem(("workload", "acme", "depth"), "is the rate")


DEPTH = Fact(float, False, "how deep a queue is")
SECTION = Section(
    by_client=(),
    fitted=lambda own, _can: own,
    key="acme",
    shape=AcmeTable,
    value=lambda table, confirms: Acme(table.depth, confirms),
    problems=problems_of,
    says=lambda own: own.depth != 7,
    facts={"depth": lambda own: own.depth},
    own_facts={"depth": DEPTH},
    not_applicable="only Acme's queues have depth",
    requires=lambda own, _workload: ("ordered",) if own.depth > 8 else (),
    requires_of_all=lambda own: ("delayed",) if own.depth == 1 else (),
    obstacles=lambda own, _servers: ("the layout is flat",) if own.depth == 9 else (),
    shows=lambda own: (f"depth {own.depth}",),
    worker_options=lambda own, _servers: {"depth": own.depth},
    counts=lambda own, _workload, load_s: {"delayed_messages": own.depth * int(load_s)},
    counted=("delayed_messages",),
)
FAMILY = replace(amqp.AMQP, name="Acme's lines", section=SECTION)
CLIENT = replace(amqp.PIKA, name="acme", family=FAMILY, drained_by="acme")


def offer(client: Client, package: str = "acme-queues 1.2") -> Offer:
    return Offer(client.name, package, client)


@pytest.fixture
def acme(monkeypatch: pytest.MonkeyPatch) -> ClientRegistry:
    found = read([offer(CLIENT)])
    for module in ("clients.registry", "clients.requirements", "files.toml"):
        monkeypatch.setattr(f"harness.plan.{module}.registry", lambda: found)
    return found


def by_acme(**own: object) -> RunPlan:
    run = plan()
    said = workload() if not own else replace(workload(), sections=own)
    scenario = replace(run.scenario, workload=said)
    system = replace(SYSTEM, clients=("acme",))
    return replace(run, scenario=scenario, system=system, client=chosen_client("acme"))


def problems(source: str) -> list[str]:
    with pytest.raises(PlanError) as caught:
        read_scenario("mine", source)
    return [str(problem) for problem in caught.value.problems]


def test_no_trait_of_a_section_has_a_default() -> None:
    every = [one for one in fields(Section) if one.name != "__orig_class__"]
    assert [one.name for one in every if one.default is not MISSING] == []
    assert [one.name for one in every if one.default_factory is not MISSING] == []


def test_shipped_sections_exist_and_undeclared_ones_are_unknown_keys() -> None:
    assert list(registry().sections.values())[:2] == [AMQP, ROCKET]
    (problem,) = problems(f"{SMALL}[workload.ampq]\nprefetch = 1\n")
    assert "ampq: there is no such key; did you mean 'amqp'?; valid: queues | " in problem
    assert problem.endswith("consumer_endpoint | declared_at | amqp | rocketmq")


@pytest.mark.usefixtures("acme")
def test_section_of_another_package_is_read_by_its_declared_shape() -> None:
    said = read_scenario("mine", f"{SMALL}confirms = true\n[workload.acme]\ndepth = 3\n").workload
    assert said.sections == {"acme": Acme(3, confirms=True)}
    without = read_scenario("mine", SMALL).workload
    assert (without.sections, SECTION.of(without)) == ({}, Acme(7, confirms=True))


@pytest.mark.usefixtures("acme")
def test_mistakes_of_several_sections_are_reported_together_with_choices() -> None:
    found = problems(
        f"{SMALL}publisher = 1\n[workload.acme]\ndepth = 10\ndepht = 1\n[workload.acme.inner]\n"
        'deep = "c"\nfar = 1\n[workload.amqp]\nheartbeat = "1 h 2"\n'
        "[workload.rocketmq]\nbatch = 0\n"
    )
    for message in (
        "publisher: there is no such key; did you mean 'publishers'?",
        "line 9, [workload.acme], depth: must be at most 9, not 10",
        "depht: there is no such key; did you mean 'depth'?; valid: depth | inner",
        "[workload.acme.inner], deep: 'c' is not a valid value; valid: a | b",
        "far: there is no such key; valid: deep",
        "heartbeat: '1 h 2' is not a length of time; valid: 10 s | ",
        "batch: must be at least 1, not 0",
    ):
        assert any(message in line for line in found), (message, found)
    assert len(found) == 7


@pytest.mark.usefixtures("acme")
def test_cross_key_checks_belong_to_the_owner_of_the_section() -> None:
    (problem,) = problems(SMALL.replace("rate = 100", "rate = 5") + "[workload.acme]\ndepth = 5\n")
    assert problem == "mine.toml, line 8, [workload.acme], depth: is the rate"


@pytest.mark.usefixtures("acme")
def test_only_the_running_clients_section_counts_and_others_are_listed() -> None:
    deep, run = Acme(9, confirms=True), by_acme(acme=Acme(9, confirms=True))
    servers = SYSTEM.servers(LAYOUT)
    assert chosen_client("acme").worker_options(run.scenario.workload, servers) == {"depth": 9}
    assert chosen_client("acme").shown(run.scenario.workload) == ["depth 9"]
    assert chosen_client("pika").shown(run.scenario.workload) == []
    assert chosen_client("acme").counted(run.scenario.workload, 2.0) == {"delayed_messages": 18}
    assert "ordered" in chosen_client("acme").wanted(run.scenario.workload)
    assert "ordered" not in chosen_client("pika").wanted(run.scenario.workload)
    assert chosen_client("acme").ignored(run.scenario.workload) == ["workload.amqp"]
    assert chosen_client("pika").ignored(run.scenario.workload) == ["workload.acme"]
    assert chosen_client("pika").ignored(workload()) == []
    assert declared(run)["depth"] == deep.depth
    assert declared(replace(run, client=chosen_client("pika")))["depth"] == {
        "not_applicable": SECTION.not_applicable
    }


@pytest.mark.usefixtures("acme")
def test_layout_obstacle_of_a_section_concerns_only_its_client() -> None:
    servers, flat = SYSTEM.servers(LAYOUT), by_acme(acme=Acme(9, confirms=True))
    said = flat.scenario.workload
    assert chosen_client("acme").layout_obstacles(said, servers) == [
        "[workload.acme] the layout is flat"
    ]
    assert chosen_client("pika").layout_obstacles(said, servers) == []


@pytest.mark.usefixtures("acme")
def test_a_requirement_outside_sections_applies_to_every_client() -> None:
    late = by_acme(acme=Acme(1, confirms=True)).scenario.workload
    assert "delayed" in chosen_client("pika").wanted(late) and "delayed" in chosen_client(
        "acme"
    ).wanted(late)


def of(section: object) -> Client:
    return replace(CLIENT, family=replace(FAMILY, section=section))  # type: ignore[arg-type]


class NeedyTable(Table):
    depth: int


SPOILT = {
    "a name alone": (of("acme"), "its section is neither None nor a Section, but \"'acme'\""),
    "no key": (of(replace(SECTION, key="Acme.1")), "'Acme.1' is no section's key"),
    "everybody's key": (of(replace(SECTION, key="rate")), "[workload] has a key 'rate'"),
    "ours": (of(replace(SECTION, key="amqp")), "another family has a section [workload.amqp]"),
    "no table": (of(replace(SECTION, shape=dict)), "is no harness.plan.files.tables.Table"),
    "needs a key": (of(replace(SECTION, shape=NeedyTable)), "have no default: depth"),
    "our fact": (of(replace(SECTION, facts=AMQP.facts)), "declares the fact 'mandatory'"),
    "our value": (
        of(replace(SECTION, facts={**SECTION.facts, "copies": lambda _: 3})),
        "mqproof itself gives the fact 'copies' its value",
    ),
    "our name": (
        of(replace(SECTION, facts={"lost": lambda _: 0}, own_facts={"lost": DEPTH})),
        "mqproof itself has a fact 'lost': give this one another name",
    ),
    "an unknown fact": (
        of(replace(SECTION, facts={**SECTION.facts, "depht": lambda _: 3})),
        "facts: there is no fact 'depht'; did you mean 'depth'?; declare it in own_facts",
    ),
    "an unknown count": (
        of(replace(SECTION, counted=("delayed_mesages",))),
        "counted: there is no fact 'delayed_mesages'; did you mean 'delayed_messages'?",
    ),
    "counts without names": (
        of(replace(SECTION, counted="delayed_messages")),
        "counted: 'delayed_messages' is no tuple of names",
    ),
    "facts without names": (of(replace(SECTION, own_facts=None)), "its facts are no mapping"),
    "a fact without a value": (
        of(replace(SECTION, own_facts={"depth": DEPTH, "width": DEPTH})),
        "declares the fact 'width' and gives it no value",
    ),
    "a count that is no number": (
        of(replace(SECTION, counted=("depth",), own_facts={"depth": replace(DEPTH, kind=str)})),
        "counts facts that are no numbers",
    ),
    "no reason for others": (
        of(replace(SECTION, not_applicable="")),
        "does not say why its facts do not apply to other clients",
    ),
}


@pytest.mark.parametrize(("client", "why"), SPOILT.values(), ids=list(SPOILT))
def test_client_offer_with_an_invalid_section_is_reported_with_reason(
    client: Client, why: str
) -> None:
    found = read([offer(client)])
    assert why in found.spoilt["acme"]
    assert list(found.sections.values()) == [AMQP, ROCKET]


def test_section_claimed_by_two_families_serves_neither() -> None:
    """Let the clients of one family share its section."""
    rival = replace(
        of(replace(SECTION, not_applicable="another")), name="rival", drained_by="rival"
    )
    assert read([offer(CLIENT), offer(rival, "b 1")]).spoilt.keys() == {"acme", "rival"}
    second = replace(CLIENT, name="second")
    assert read([offer(CLIENT), offer(second)]).sections["acme"] == SECTION


def test_an_amqp_worker_gets_exactly_its_options() -> None:
    said = chosen_client("pika").worker_options(workload(), SYSTEM.servers(LAYOUT))
    assert said.keys() == {one.name for one in fields(AmqpOptions)}
    assert AmqpOptions(**said) == AmqpOptions()
