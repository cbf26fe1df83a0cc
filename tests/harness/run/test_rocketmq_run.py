"""A run on RocketMQ's brokers, as the harness plays it: its workers and their configuration."""

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from harness.cluster.port import Link
from harness.plan.clients.amqp_section import AmqpWorkload
from harness.plan.clients.requirements import chosen_client
from harness.plan.clients.rocketmq import CLIENTS
from harness.plan.clients.rocketmq_section import RocketWorkload
from harness.plan.layouts import worker_addresses
from harness.plan.model import Layout, RunPlan
from harness.run.drain_and_audit import _Read
from harness.run.run_group import Participant
from harness.systems.catalogue import load_layout, load_system
from harness.systems.rocketmq.core import drain
from harness.systems.rocketmq.core.layout import RocketMq, Timers, own
from harness.systems.rocketmq.core.master_slave import master_slave_guarantees
from harness.workers.clients.rocketmq.options import RocketOptions, attach_to
from harness.workers.protocol import Role, WorkerConfig
from harness.workers.recorder import Recorder
from spark_analysis.schema import tables
from spark_analysis.schema.words import Outcome, Strength
from tests.harness.run.live_runs import Done, run
from tests.rigs.clusters.simulated_cluster import SimulatedCluster
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.plans import fault, plan, workload
from tests.rigs.workers import rig

ROCKET = load_system("rocketmq-2m2s")
COLOCATED = load_layout("rocketmq-2m2s", "colocated@compressed")
JAVA = "rocketmq-java-5.3.3"


def of(layout: Layout = COLOCATED, client: str = JAVA, **changes: object) -> RunPlan:
    system = replace(ROCKET, clients=tuple(one.name for one in CLIENTS))
    return replace(plan(**changes), system=system, layout=layout, client=chosen_client(client))


def played(folder: Path, of: RunPlan, cluster: SimulatedCluster | None = None) -> Done:
    return run(cluster or SimulatedCluster(of.layout), of, folder)


def configured(folder: Path, of: RunPlan) -> dict[str, WorkerConfig]:
    cluster = SimulatedCluster(of.layout)
    played(folder, of, cluster)
    return cluster.configured


def test_load_and_probers_get_all_name_servers_auditors_one_broker(
    tmp_path: Path,
) -> None:
    known = {
        name: [(way.host, way.port) for way in config.endpoints]
        for name, config in configured(tmp_path, of()).items()
    }
    name_servers = [("rkt1", 9876), ("rkt2", 9877)]
    assert known == {
        "publisher-1": name_servers,
        "consumer-1": name_servers,
        "prober-orders": name_servers,
        "drain-orders": name_servers,
        "audit-orders-rkt1-broker-a-0": [("rkt1", 10911)],
        "audit-orders-rkt2-broker-b-0": [("rkt2", 10921)],
        "audit-orders-rkt3-broker-a-1": [("rkt3", 10931)],
        "audit-orders-rkt4-broker-b-1": [("rkt4", 10941)],
    }


def test_auditor_reads_as_many_brokers_as_runs_share_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Participant, "runs", 3)
    read = {
        name: [way.port for way in config.endpoints]
        for name, config in configured(tmp_path, of()).items()
        if config.role is Role.AUDITOR
    }
    assert read == {
        "audit-orders-rkt1-broker-a-0": [10911, 10921, 10931],
        "audit-orders-rkt4-broker-b-1": [10941],
    }


def test_queues_that_an_auditor_does_not_report_are_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Participant, "runs", 3)
    cluster = SimulatedCluster(COLOCATED, deaf=frozenset({"audit-orders-rkt1-broker-a-0"}))
    (end,) = played(tmp_path, of(), cluster).manifest.queues
    unread = ["broker-a-0 on rkt1", "broker-b-0 on rkt2", "broker-a-1 on rkt3"]
    assert [word.partition(":")[0] for word in end.unreadable] == unread


def test_log_its_auditor_did_not_report_is_not_fully_read() -> None:
    assert _Read().of_each(1) == [""]
    assert _Read(doubts=("", "late")).of_each(2) == ("", "late")
    assert all(_Read().of_each(2))
    assert _Read("gone", None, ("late",)).of_each(2) == ["gone", "gone"]


def test_topic_has_no_dots_and_a_connection_keeps_its_name(tmp_path: Path) -> None:
    found = configured(tmp_path, of())
    assert {config.queue for config in found.values()} == {"mqproof_quick-1-00ff_orders"}
    assert found["publisher-1"].connection_name == "mqproof.quick-1-00ff.publisher-1"


def test_run_with_every_log_read_has_no_loss_or_competition(tmp_path: Path) -> None:
    """Find no competing leaders either."""
    done = played(tmp_path, of())
    counted = {row.measure: row.count for row in done.findings.counts}
    assert "lost" not in counted
    assert counted["state"] == 20
    assert done.manifest.competing_leaders == []
    assert [(end.drained, end.unreadable) for end in done.manifest.queues] == [(True, ())]
    assert done.manifest.failure == ""


class CountingCluster(SimulatedCluster):
    """Knows whom it gave links."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.linked: list[str] = []

    async def link(self, run: RunPlan, worker: str) -> tuple[Link, ...]:
        self.linked.append(worker)
        return await super().link(run, worker)


@pytest.mark.parametrize("crashed", ["clients", "publisher-1", ""])
def test_links_are_counted_before_the_fault_takes_them(tmp_path: Path, crashed: str) -> None:
    faults = (fault("client_crash", crashed),) if crashed else ()
    small = of(queues=("one", "two"), publishers=3, consumers=2)
    small = replace(small, scenario=replace(small.scenario, faults=faults))
    small = replace(small, schedule=plan(*faults).schedule)
    cluster = CountingCluster(COLOCATED)
    played(tmp_path, small, cluster)
    wanted = worker_addresses.wanted(small.scenario, ROCKET.servers(COLOCATED))
    assert (
        wanted["successors of crashed clients"] == {"clients": 5, "publisher-1": 1, "": 0}[crashed]
    )
    assert len(cluster.linked) == len(set(cluster.linked)) == sum(wanted.values())


def test_partly_read_log_may_hold_the_missing_messages(tmp_path: Path) -> None:
    deaf = frozenset({"audit-orders-rkt3-broker-a-1"})
    cluster = SimulatedCluster(COLOCATED, swallowed=frozenset({3}), deaf=deaf)
    done = played(tmp_path, of(), cluster)
    (end,) = done.manifest.queues
    assert [word.partition(":")[0] for word in end.unreadable] == ["broker-a-1 on rkt3"]


@pytest.mark.parametrize(("listed_s", "drained"), [(125.0, True), (150.0, False)])
def test_frozen_broker_may_list_departed_clients_for_two_minutes(
    tmp_path: Path, listed_s: float, drained: bool
) -> None:
    done = played(tmp_path, of(), SimulatedCluster(COLOCATED, dead_listed_s=listed_s))
    (end,) = done.manifest.queues
    assert end.drained is drained, end.undrained_reason
    assert drained or "still lists" in end.undrained_reason


def test_client_connection_to_target_is_not_applicable_with_name_servers(
    tmp_path: Path,
) -> None:
    faulty = replace(of(), schedule=plan(fault("kill", "rkt1")).schedule)
    state = played(tmp_path, faulty).manifest.state["windows"]["1"]
    assert "name servers" in state["publishers_connected_to_target"]["not_applicable"]
    assert (state["name_servers_at_target"], state["name_servers_left"]) == (1, 1)
    assert state["name_servers_hit"] == ["rkt1"]


def test_clients_that_find_masters_do_not_connect_to_slaves(tmp_path: Path) -> None:
    faulty = replace(of(), schedule=plan(fault("kill", "mirror of orders")).schedule)
    state = played(tmp_path, faulty).manifest.state["windows"]["1"]
    assert state["fault_target_role"] == "mirror"
    assert state["publishers_connected_to_target"] is False
    assert state["consumers_connected_to_target"] is False


def test_a_name_server_that_is_killed_alone_is_no_master(tmp_path: Path) -> None:
    faulty = replace(of(), schedule=plan(fault("kill", "rkt1/name-server")).schedule)
    state = played(tmp_path, faulty).manifest.state["windows"]["1"]
    assert state["fault_target_role"] == "name server"
    assert (state["name_servers_at_target"], state["name_servers_left"]) == (1, 1)


def test_client_link_fault_of_a_host_spares_the_probers_links(tmp_path: Path) -> None:
    cluster = SimulatedCluster(COLOCATED)
    played(tmp_path, replace(of(), schedule=plan(fault("hang", "rkt1")).schedule), cluster)
    cut = {proxy for each in cluster.executor.performed for proxy in getattr(each, "proxies", ())}
    run_name = f"mqproof.{of().name}"
    assert cut == {
        f"{run_name}.{worker}.rkt1.{process}"
        for worker in ("publisher-1", "consumer-1")
        for process in ("name-server", "broker-a-0")
    }
    assert "prober-orders" in cluster.configured


def test_options_of_scenario_and_layout_reach_the_clients(tmp_path: Path) -> None:
    flagged = replace(own(COLOCATED), client_jvm=("-Da=b",))
    layout = replace(COLOCATED, own=flagged)
    said = RocketWorkload(send="sync", consume="pull", send_timeout_ms=5500, batch=8)
    worker = configured(tmp_path, of(layout, rocketmq=said))["publisher-1"]
    options = RocketOptions.from_json(worker.own)
    assert (options.producer, options.consumer) == ("sync", "pull")
    assert (options.send_timeout_ms, options.batch) == (5500, 8)
    assert options.jvm == ("-Da=b",)
    assert options.settings == (("pollNameServerInterval", "5000"),)


def test_name_servers_are_assigned_to_workers_of_a_role_cyclically(
    tmp_path: Path,
) -> None:
    said = RocketWorkload(publishers_attach=("rkt1", "rkt2"), consumers_attach=("rkt2",))
    found = configured(tmp_path, of(rocketmq=said, publishers=3, consumers=2))
    wanted = {
        name: attach_to(RocketOptions.from_json(one.own), one.role, one.index)
        for name, one in found.items()
        if one.role in (Role.PUBLISHER, Role.CONSUMER, Role.DRAINER)
    }
    assert wanted == {
        "publisher-1": "rkt1",
        "publisher-2": "rkt2",
        "publisher-3": "rkt1",
        "consumer-1": "rkt2",
        "consumer-2": "rkt2",
        "drain-orders": "",
    }


def test_a_client_does_not_get_its_default_settings() -> None:
    layout = load_layout("rocketmq-2m2s", "colocated@default")
    assert chosen_client(JAVA).worker_options(workload(), ROCKET.servers(layout))["settings"] == []


def test_a_worker_gets_exactly_its_options() -> None:
    said = chosen_client(JAVA).worker_options(workload(), ROCKET.servers(COLOCATED))
    assert said.keys() == {one.name for one in fields(RocketOptions)}
    assert RocketOptions.from_json(json.loads(json.dumps(said))) == RocketOptions(
        delay_level=3, settings=(("pollNameServerInterval", "5000"),)
    )


@pytest.mark.parametrize(
    ("replication", "flush", "strength"),
    [
        ("sync", "async", Strength.REPLICATED),
        ("async", "sync", Strength.STORED),
        ("async", "async", Strength.BUFFERED),
    ],
)
def test_a_confirm_is_worth_what_the_layout_declares(
    replication: str, flush: str, strength: Strength
) -> None:
    settings = RocketMq("4.9.7", replication, flush, Timers(20, 10, 5))
    promised = master_slave_guarantees(replace(COLOCATED, own=settings))
    assert promised.strength is promised.strength_of_transient is strength


def test_amqp_only_options_do_not_weaken_a_confirm(tmp_path: Path) -> None:
    loose = AmqpWorkload(mandatory=False)
    publisher = configured(tmp_path, of(amqp=loose))["publisher-1"]
    recorder = Recorder(replace(publisher, log=str(tmp_path / "log")), rig.fail)
    recorder.settlements([(7, 1, Outcome.CONFIRMED, "SEND_OK")], 5, 1)
    recorder.close()
    (row,) = read_rows(tmp_path / "log", tables.SETTLEMENTS)
    assert row["strength"] == Strength.REPLICATED


def test_drain_waits_as_long_as_a_message_may_be_delayed(tmp_path: Path) -> None:
    late = RocketWorkload(delayed_percent=1, delay_level=4)  # 30 s
    drainer = configured(tmp_path, of(rocketmq=late))["drain-orders"]
    assert drainer.quiet_s > 30
    assert drainer.limit_s > drainer.quiet_s
    assert drain.quiet_s(workload()) == drain.QUIET_S


def test_a_client_with_lag_reports_drains_after_the_native_client(tmp_path: Path) -> None:
    found = configured(tmp_path, of(client="rocketmq-native"))
    assert found["consumer-1"].client == "rocketmq-native"
    assert found["drain-orders"].client == "rocketmq-java-4.9.8"


@pytest.mark.parametrize(
    ("send", "consume", "serving", "ordered"),
    [
        ("ordered", "orderly", 3, True),
        ("ordered", "pull", 1, True),
        ("ordered", "pull", 2, False),
        ("ordered", "concurrent", 1, False),
        ("sync", "orderly", 1, False),
    ],
)
def test_order_is_promised_per_key_in_one_sequential_log(
    send: str, consume: str, serving: int, ordered: bool
) -> None:
    own = workload(rocketmq=RocketWorkload(send=send, consume=consume))
    assert drain.in_order(own, serving) is ordered
