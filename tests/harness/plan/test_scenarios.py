"""The scenarios that come with mqproof: each can be played, and stands in the folder's table."""

from pathlib import Path

import pytest

from harness.campaigns.cells import rows_of_table
from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.model import Layout, System
from harness.request import suites
from harness.request.run_request import layouts, scenario, scenario_names, systems

SYSTEMS, LAYOUTS = systems(), layouts()
ROWS = rows_of_table()
SYSTEMS_PAGE = (Path(__file__).parents[3] / "docs" / "systems.md").read_text("utf-8")


def test_the_table_names_every_scenario_and_no_other() -> None:
    named = {name for names, _ in ROWS for name in names}
    assert named == set(scenario_names())


def test_every_layout_of_the_table_belongs_to_some_system() -> None:
    named = {layout for _, found in ROWS for layout in found}
    assert named <= {layout.name for layout in LAYOUTS}


def had_by(layout: str, name: str = "") -> list[tuple[System, Layout]]:
    """The real systems that have a layout of this name (or that system), and that layout with
    short timers."""
    return [
        (system, one)
        for system in SYSTEMS
        for one in LAYOUTS
        if (one.system, one.name) == (system.name, layout)
        and one.profile in ("T=10", "compressed")
        and system.name != "reference-mirrored"
        and name in ("", system.name)
    ]


@pytest.mark.parametrize(("names", "wanted"), [row for row in ROWS if row[1]])
def test_scenario_runs_on_the_layouts_its_row_names(names: list[str], wanted: list[str]) -> None:
    """Of systems whose layouts have the same name on one, at least."""
    for name in names:
        for layout in wanted:
            if (name == "add-node") ^ (layout == "all-automatic-spare"):
                continue
            against = [
                obstacles(scenario(name), system, own, chosen_client(system.clients[0]), "compose")
                for system, own in had_by(layout)
            ]
            assert [] in against, (name, layout, against)


@pytest.mark.parametrize("name", scenario_names())
def test_every_scenario_fits_some_layout_of_a_system(name: str) -> None:
    one = scenario(name)
    assert any(
        not obstacles(one, system, layout, chosen_client(system.clients[0]), "compose")
        for system in SYSTEMS
        for layout in LAYOUTS
        if layout.system == system.name
    )


def unfit(system: str, *deployments: str) -> list[str]:
    """The scenarios that fit no layout of a system under these deployments."""
    (one,) = (each for each in SYSTEMS if each.name == system)
    cells = [(each, by) for each in LAYOUTS if each.system == system for by in deployments]
    return [
        name
        for name, its in ((each, scenario(each)) for each in scenario_names())
        if all(
            obstacles(its, one, layout, chosen_client(one.clients[0]), by) for layout, by in cells
        )
    ]


def test_the_systems_page_says_what_the_mirrored_reference_cannot_play() -> None:
    no_reference = set(unfit("reference-mirrored", "compose", "local"))
    no_queues = set(unfit("rabbitmq-mirrored", "compose"))
    rocketmq = ("rocketmq-2m2s", "rocketmq-dledger", "rocketmq-controller")
    no_logs = set.intersection(*(set(unfit(one, "compose")) for one in rocketmq))
    assert no_queues == no_reference
    assert not no_queues & no_logs
    every_suite = map(suites.suite, suites.names())
    played = [own.played(system) for own in every_suite for system in own.systems]
    assert {name for one in played for name in one.scenarios} <= no_queues
    in_containers = set(unfit("reference-mirrored", "local")) - no_reference
    of_packets = {"packet-delay", "packet-loss"}
    assert in_containers == {"balancer-crash", "disk-alarm", "memory-alarm", *of_packets}
    row = (
        "| `reference-mirrored` | RabbitMQ's scenarios | load balancers (`balancer-crash`), "
        "alarms (`disk-alarm`, `memory-alarm`), packets that are lost or late (`packet-delay`, "
        "`packet-loss`) |"
    )
    assert row in SYSTEMS_PAGE


NAME_SERVERS = (
    *("name-server-kill", "name-server-freeze", "name-server-link-hang", "name-server-partition"),
    "all-name-servers-down",
)


@pytest.mark.parametrize("name", NAME_SERVERS)
def test_plan_without_name_servers_reports_that_none_can_fail(name: str) -> None:
    for system, layout in had_by("all-automatic"):
        (reason,) = obstacles(scenario(name), system, layout, chosen_client("pika"), "compose")
        assert reason.endswith("clients of rabbitmq-mirrored use no name servers")


def test_messages_kept_in_brokers_need_logs() -> None:
    ((system, layout),) = had_by("all-automatic")
    one = scenario("pending-delayed-and-transactions")
    found = obstacles(one, system, layout, chosen_client("pika"), "compose")
    assert found == [
        "pika cannot do delayed: AMQP 0-9-1 knows no delay",
        "pika cannot do transaction: transactions of AMQP 0-9-1 are of a channel, and no broker "
        "asks for an outcome later",
    ]


def test_name_server_cut_needs_one_alone_on_its_host() -> None:
    ((system, shared),) = had_by("colocated", "rocketmq-2m2s")
    one = scenario("name-server-partition")
    (reason,) = obstacles(one, system, shared, chosen_client(system.clients[0]), "compose")
    assert (
        "a partition affects a whole host, and rkt1 carries name-server and broker-a-0" in reason
    )
    ((_, alone),) = had_by("separated", "rocketmq-2m2s")
    assert obstacles(one, system, alone, chosen_client(system.clients[0]), "compose") == []


def test_rabbitmq_and_the_reference_have_the_same_layouts() -> None:
    own = {
        system.name: {layout.name for layout in LAYOUTS if layout.system == system.name}
        for system in SYSTEMS
    }
    assert own["reference-mirrored"] == own["rabbitmq-mirrored"]


BEYOND = scenario("backlog-beyond-memory")


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("rabbitmq-mirrored", "all-automatic-low-memory"),
        ("reference-mirrored", "all-automatic-low-memory"),
        ("rabbitmq-quorum", "three-low-memory"),
    ],
)
def test_the_backlog_exceeds_the_watermark_of_the_layout(system: str, name: str) -> None:
    (fault,) = BEYOND.faults
    rate = BEYOND.workload.rate
    assert rate is not None
    for layout in (one for one in LAYOUTS if (one.system, one.name) == (system, name)):
        stopped_s = fault.lasts.resolve_s(layout.detection_timeout_s)
        octets = rate * BEYOND.workload.body_bytes * stopped_s
        assert layout.memory_high_watermark_mib is not None
        assert octets > 1.2 * layout.memory_high_watermark_mib * 1024 * 1024


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda one: one.name)
def test_the_backlog_is_played_on_every_system(system: System) -> None:
    """Also where no watermark can be set: there it is kept in files."""
    client = chosen_client(system.clients[0])
    for layout in (one for one in LAYOUTS if one.system == system.name):
        if layout.label == system.default_layout:
            assert obstacles(BEYOND, system, layout, client, system.deployments[0]) == []
