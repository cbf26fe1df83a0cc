"""--dry-run: phases, words, faults and lengths, in words."""

import re
from dataclasses import replace

import pytest

from harness.plan.clients.rocketmq_section import RocketWorkload
from harness.plan.experiment import Catalogue, ExperimentOptions, plan
from harness.plan.files.toml import read_scenario
from harness.plan.model import Scenario
from harness.report import dry_run
from harness.request.run_request import scenario
from harness.systems.catalogue import load_layout, load_system
from tests.rigs.runs.fault_pairs import OTHER, Pair
from tests.rigs.runs.plans import LAYOUT, SYSTEM

SLOW = replace(LAYOUT, profile="T=60", detection_timeout_s=60)


def lines(name: str, layout: str) -> list[str]:
    request = ExperimentOptions(
        name="e", seed=7, scenarios=(scenario(name),), layouts=(layout,), repeats=2
    )
    experiment = plan(request, Catalogue((SYSTEM,), (LAYOUT, SLOW)))
    return list(dry_run.lines(experiment))


def test_dry_run_shows_phases_in_seconds_and_possible_targets() -> None:
    shown = lines("cut-one-node", "all-automatic@T=10")
    assert shown[0] == "experiment e, seed 7: 2 runs"
    assert "  baseline   12 s" in shown
    assert (
        "  fault 1    partition master of orders: from +12 s for 22 s (1.5 T, at least 22 s)"
        in shown
    )
    assert "             one of rmq1, rmq2, rmq3: the host that serves orders then" in shown
    assert "  settle     5 s (0.5 T, at least 5 s)" in shown
    assert "  load       49 s at least" in shown
    assert shown[-1] == "load and settle of all runs: 108 s at least; start and drain on top"


def test_a_deadline_that_extends_settle_is_reported() -> None:
    shown = lines("master-freeze-patient", "all-automatic@T=10")
    assert "  settle     60 s (one deadline; the scenario has 0.5 T, at least 5 s)" in shown


def test_a_dry_run_shows_the_client_endpoint() -> None:
    def shown(client_endpoint: str) -> list[str]:
        layout = replace(LAYOUT, client_endpoint=client_endpoint)
        request = ExperimentOptions("e", 7, (scenario("cut-one-node"),), layouts=(layout.name,))
        return list(dry_run.lines(plan(request, Catalogue((SYSTEM,), (layout,)))))

    word = "  publishers connect first to master of orders: one of rmq1, rmq2, rmq3: the host"
    assert f"{word} that serves orders then" in shown("hosts")
    assert f"{word} that serves orders then, and know no other" in shown("one")
    both = "balancer1 and balancer2, whatever the scenario says"
    assert f"  consumers  connect first to {both}" in shown("haproxy-pair")


def shown_of(system: str, label: str, deployment: str) -> list[str]:
    request = ExperimentOptions(
        "e", 7, (scenario("client-link-hang"),), (system,), (label,), deployment=deployment
    )
    catalogue = Catalogue((load_system(system),), (load_layout(system, label),))
    return list(dry_run.lines(plan(request, catalogue)))


def test_dry_run_shows_the_layout_settings_besides_its_title() -> None:
    shown = shown_of("rabbitmq-mirrored", "exactly-2@T=10", "compose")
    assert shown[3:8] == [
        "  layout     Three nodes, two copies of every queue, automatic synchronisation; T = 10 s",
        "  copies     2 of each queue, synchronised: automatic",
        "  partitions pause_minority",
        r"  policy     mqproof for ^mqproof\.: ha-mode=exactly ha-params=2 ha-sync-mode=automatic",
        "  peer links direct; client endpoint: hosts",
    ]
    word = "all-automatic-pause-if-all-down"
    assert "  partitions pause_if_all_down of rmq1, recover autoheal" in shown_of(
        "rabbitmq-mirrored", f"{word}@T=10", "compose"
    )
    proxied = shown_of("rabbitmq-mirrored", "all-automatic-toxiproxy@T=60", "compose")
    assert "  peer links toxiproxy; client endpoint: hosts" in proxied
    local = shown_of("reference-mirrored", "unmirrored@T=10", "local")
    assert "  policy     none is set" in local
    assert not [line for line in local if line.startswith("  memory ")]
    low = shown_of("rabbitmq-quorum", "three-low-memory@T=10", "compose")
    assert "  memory     a node raises its alarm above 320 MiB" in low
    assert "  peer links proxy; client endpoint: hosts" in local


def test_a_dry_run_shows_rocketmq_servers_and_timers() -> None:
    shown = shown_of("rocketmq-2m2s", "colocated@compressed", "compose")
    assert "  servers    RocketMQ 4.9.7, replication sync, flush async" in shown
    assert "  timers     idle 20 s, register 10 s, poll 5 s" in shown
    clients = "  clients    find all masters through name servers: "
    assert any(line.startswith(clients) for line in shown)
    assert not [line for line in shown if "connect first" in line]


def test_dry_run_omits_absent_broker_features_but_mentions_peer_links() -> None:
    shown = shown_of("rocketmq-2m2s", "colocated-toxiproxy@compressed", "compose")
    assert "  peer links toxiproxy" in shown  # its clients know no entrance
    assert not [line for line in shown if line.startswith(("  partitions", "  policy"))]


def test_peers_that_dial_each_other_directly_are_said_to() -> None:
    assert "  peer links direct" in shown_of("reference-2m2s", "colocated@minute", "local")
    by_proxy = shown_of("reference-mirrored", "all-automatic@T=10", "local")
    assert any(line.startswith("  peer links proxy") for line in by_proxy)


def test_fixed_roles_limit_the_hosts_a_target_may_mean() -> None:
    shown = shown_of("rocketmq-2m2s", "colocated@compressed", "compose")
    assert "             one of rkt1, rkt2: the host that serves orders then" in shown
    queues = shown_of("rabbitmq-mirrored", "all-automatic@T=10", "compose")
    assert "             one of rmq1, rmq2, rmq3: the host that serves orders then" in queues


def test_a_longer_timer_makes_it_longer() -> None:
    shown = lines("cut-one-node", "all-automatic@T=60")
    assert any("for 90 s (1.5 T, at least 22 s)" in line for line in shown)


def test_dry_run_shows_that_a_fault_awaits_anothers_end() -> None:
    shown = lines("unsynchronised-mirror", "all-automatic@T=10")
    assert "  fault 1    kill mirror of orders: from +5 s for 5 s" in shown
    assert "  fault 2    kill master of orders: from +15 s at least for 12 s" in shown
    assert "             5 s after fault 1 was verified ended" in shown


def test_dry_run_marks_grouped_runs_and_counts_time_once() -> None:
    system, layout = (
        load_system("rocketmq-2m2s"),
        load_layout("rocketmq-2m2s", "colocated@compressed"),
    )
    request = ExperimentOptions(
        "e", 7, (scenario("master-crash"),), (), (layout.label,), system.clients[:2]
    )
    catalogue = Catalogue((system,), (layout,))
    apart = list(dry_run.lines(plan(request, catalogue)))
    shown = list(dry_run.lines(plan(replace(request, together=True), catalogue)))
    expected = (
        "  together   with 1 more, each with another client: one cluster, one fault for all, "
        "2 times this load"
    )
    assert shown.count(expected) == 2
    assert expected not in apart
    once, twice = (int(re.findall(r"runs: (\d+) s", each[-1])[0]) for each in (shown, apart))
    assert twice == 2 * once


def test_a_dry_run_names_options_that_the_client_ignores() -> None:
    layout = "colocated@compressed"
    system = load_system("rocketmq-2m2s")
    request = ExperimentOptions("e", 7, (scenario("master-crash"),), (system.name,), (layout,))
    catalogue = Catalogue((system,), (load_layout(system.name, layout),))
    client = system.clients[0]
    said = f"  ignored    section [workload.amqp]: it does not apply to {client}"
    said += ", except its key confirm_window"
    assert said in list(dry_run.lines(plan(request, catalogue)))
    assert not [line for line in lines("master-crash", "all-automatic@T=10") if "ignored" in line]


def test_a_dry_run_shows_client_options_of_the_workload() -> None:
    layout = "colocated@compressed"
    system = load_system("rocketmq-2m2s")
    remedied = scenario("master-crash")
    own = RocketWorkload(publishers_attach=("rkt1",), latency_fault=True)
    said = replace(remedied, workload=replace(remedied.workload, sections={"rocketmq": own}))
    catalogue = Catalogue((system,), (load_layout(system.name, layout),))

    def options(one: Scenario) -> list[str]:
        shown = dry_run.lines(
            plan(ExperimentOptions("e", 7, (one,), (system.name,), (layout,)), catalogue)
        )
        return [line for line in shown if line.startswith("  option ")]

    assert options(said) == [
        "  option     publishers_attach = rkt1",
        "  option     sendLatencyFaultEnable = true (publishers)",
    ]
    assert options(remedied) == []


def fault_lines(deployment: str, *pairs: tuple[str, str], early: bool = False) -> str:
    """What is shown of the faults of a scenario whose text was changed so."""
    source = Pair("freeze", "partition", "overlapping", OTHER).source
    for old, new in pairs:
        assert old in source, old
        source = source.replace(old, new)
    request = ExperimentOptions(
        "e",
        7,
        (read_scenario("pair", source),),
        layouts=("all-automatic@T=10",),
        deployment=deployment,
    )
    found = Catalogue(
        (load_system("reference-mirrored"),),
        (load_layout("reference-mirrored", "all-automatic@T=10"),),
    )
    experiment = plan(request, found)
    return "\n".join(dry_run.notices(experiment) if early else dry_run.lines(experiment))


def test_target_that_may_move_after_a_fault_causes_a_warning() -> None:
    warning = "warning: after fault 1 'mirror of orders' may mean another host than before"
    word = ("other than fault 1", "mirror of orders")
    assert warning in fault_lines("local", word)
    assert "warning: after" not in fault_lines("local")
    assert "the first of ref1, ref2, ref3 that fault 1 of the file does not mean" in fault_lines(
        "local"
    )


@pytest.mark.parametrize(
    ("deployment", "what"),
    [("compose", "packet counters are read when it ends"), ("local", "the run is INCONCLUSIVE")],
)
def test_window_too_short_to_verify_states_the_consequence(deployment: str, what: str) -> None:
    short = ('opens = "3 s"\nlasts = "7 s"', 'opens = "3 s"\nlasts = "50 ms"')
    shown = fault_lines(deployment, short)
    assert "shorter than 3.5 s, the shortest window in which a partition is verified" in shown
    assert what in shown
    early, majority = fault_lines(deployment, short, early=True).splitlines()
    assert "no majority" in majority
    assert early.startswith("pair on reference-mirrored all-automatic@T=10 with pika: fault 2: ")
    assert what in early
    assert "shorter" not in fault_lines(deployment, early=True)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"version": "4.0.5"}, "  version    4.0.5"),
        ({"image": "mine:1"}, "  version    as the image has it in mine:1"),
        ({"version": "4.1.0", "image": "mine:1"}, "  version    4.1.0 in mine:1"),
    ],
)
def test_a_dry_run_shows_another_version_than_the_default(
    changes: dict[str, str], expected: str
) -> None:
    layout = replace(LAYOUT, **changes)  # type: ignore[arg-type]
    request = ExperimentOptions("e", 7, (scenario("cut-one-node"),), layouts=(layout.name,))
    shown = list(dry_run.lines(plan(request, Catalogue((SYSTEM,), (layout,)))))
    assert expected in shown
    assert not any("version" in line for line in lines("cut-one-node", LAYOUT.label))


TOGETHER = "faults 1 and 2 together leave 1 of 3 nodes, if each takes another one: no majority"


@pytest.mark.parametrize(
    ("name", "system", "warned"),
    [
        ("majority-lost", "reference-mirrored", True),  # its nodes pause without a majority
        ("majority-lost", "rabbitmq-quorum", True),
        ("master-crash", "rabbitmq-quorum", False),  # one fault
    ],
)
def test_faults_that_leave_no_majority_cause_one_warning(
    name: str, system: str, warned: bool
) -> None:
    found = load_system(system)
    layout = load_layout(system, found.default_layout)
    request = ExperimentOptions("e", 7, (scenario(name),), layouts=(layout.label,))
    experiment = plan(request, Catalogue((found,), (layout,)))
    for shown in (dry_run.lines(experiment), dry_run.notices(experiment)):
        assert [TOGETHER in line for line in shown].count(True) == warned


def test_without_a_known_number_of_copies_there_is_no_warning() -> None:
    found = load_system("rabbitmq-quorum")
    layout = replace(load_layout(found.name, found.default_layout), copies=None)
    request = ExperimentOptions("e", 7, (scenario("majority-lost"),), layouts=(layout.label,))
    shown = dry_run.lines(plan(request, Catalogue((found,), (layout,))))
    assert not any(TOGETHER in line for line in shown)


@pytest.mark.parametrize(("timeout_s", "warned"), [(60, True), (10, False)])
def test_different_detection_timeouts_of_two_systems_cause_one_warning(
    timeout_s: int, warned: bool
) -> None:
    systems = tuple(map(load_system, ("reference-mirrored", "rabbitmq-mirrored")))
    one, other = (load_layout(each.name, "all-automatic@T=10") for each in systems)
    other = replace(other, profile=f"T={timeout_s}", detection_timeout_s=timeout_s)
    labels = tuple(dict.fromkeys((one.label, other.label)))
    request = ExperimentOptions(
        "e", 7, (scenario("master-crash"),), systems=tuple(s.name for s in systems), layouts=labels
    )
    experiment = plan(request, Catalogue(systems, (one, other)))
    expected = "T = 10 s for reference-mirrored; T = 60 s for rabbitmq-mirrored"
    for shown in (dry_run.lines(experiment), dry_run.notices(experiment)):
        assert [expected in line for line in shown].count(True) == warned
