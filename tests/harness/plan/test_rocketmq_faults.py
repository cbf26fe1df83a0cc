"""What a cluster of RocketMQ can suffer, told before it stands."""

from dataclasses import replace

import pytest

from faults.kinds import KINDS
from faults.kinds.alarms.alarm import AlarmOptions
from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.systems.catalogue import load_layout, load_system
from tests.rigs.clusters.fault_world import ALARMS
from tests.rigs.runs.plans import fault, plan

SYSTEM = load_system("rocketmq-2m2s")
LAYOUT = load_layout("rocketmq-2m2s", "colocated")


def reasons(kind: str, **options: str) -> list[str]:
    scenario = plan(fault(kind, options=KINDS[kind].options(**options))).scenario  # type: ignore[arg-type]
    workload = replace(scenario.workload, acknowledge=10)
    changed = replace(scenario, workload=workload)
    return obstacles(changed, SYSTEM, LAYOUT, chosen_client(SYSTEM.clients[0]), "compose")


@pytest.mark.parametrize(
    "kind", ["kill", "stop", "freeze", "partition", "black_hole", "reboot", "hang", "reset"]
)
def test_hosts_and_links_of_it_can_be_broken(kind: str) -> None:
    assert reasons(kind) == []


def test_replies_due_while_requests_are_held_are_refused() -> None:
    assert reasons("hang", direction="to_client") == []
    (reason,) = reasons("hang", direction="to_broker")
    assert "a server of rocketmq-2m2s sends nothing without a request" in reason


def test_rocketmq_has_no_resource_alarm() -> None:
    (reason,) = reasons("alarm")
    assert "rocketmq-2m2s can suffer no alarm: a broker that runs short of a resource" in reason


def test_system_without_a_declared_alarm_suffers_none_by_default() -> None:
    scenario = plan(fault("alarm", options=AlarmOptions(resource="disk"))).scenario
    changed = replace(scenario, workload=replace(scenario.workload, acknowledge=10))
    silent = replace(SYSTEM, cannot={})
    (reason,) = obstacles(changed, silent, LAYOUT, chosen_client(SYSTEM.clients[0]), "compose")
    assert reason.endswith("rocketmq-2m2s can suffer no alarm: it has no disk alarm")
    memory_alone = replace(ALARMS, raised={"memory": ("starve", "memory")})
    for known, found in ((ALARMS, 0), (memory_alone, 1)):
        alarmed = replace(silent, alarms=known)
        said = obstacles(changed, alarmed, LAYOUT, chosen_client(SYSTEM.clients[0]), "compose")
        assert len(said) == found
