"""Faults of packets in scenario files: their keys, their limits, and where they can be done."""

import pytest

from faults.kinds import KINDS
from faults.kinds.packets.packet_delay import PacketDelayOptions
from faults.kinds.packets.packet_loss import PacketLossOptions
from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.files.toml import read_scenario
from harness.plan.problems import PlanError
from harness.systems import catalogue
from tests.rigs.runs.fault_pairs import OTHER, SAME, Pair, planned
from tests.rigs.runs.plans import fault, plan

HEAD = Pair("kill", "kill", "nested", OTHER).source.partition("[[fault]]")[0]


def source(kind: str, keys: str, lasts: str = "20 s") -> str:
    return (
        f'{HEAD}[[fault]]\nkind = "{kind}"\ntarget = "master of orders"\nlasts = "{lasts}"\n{keys}'
    )


def wrong(kind: str, keys: str, lasts: str = "20 s") -> list[str]:
    with pytest.raises(PlanError) as caught:
        read_scenario("mine", source(kind, keys, lasts))
    return [str(problem) for problem in caught.value.problems]


def test_the_keys_of_a_fault_of_packets_are_its_options() -> None:
    (lossy,) = read_scenario("mine", source("packet_loss", "loss = 5")).faults
    assert lossy.options == PacketLossOptions(loss=5)
    keys = 'delay = "200 ms"\njitter = "50 ms"\ncorrelation = 25'
    (late,) = read_scenario("mine", source("packet_delay", keys)).faults
    assert late.options == PacketDelayOptions(delay_s=0.2, jitter_s=0.05, correlation=25)


@pytest.mark.parametrize(
    ("kind", "keys", "texts"),
    [
        ("packet_loss", "", ["a fault of kind packet_loss needs loss"]),
        ("packet_loss", "loss = 0", ["must be from 1 to 50, not 0"]),
        ("packet_loss", "loss = 51", ["must be from 1 to 50, not 51"]),
        ("packet_loss", 'loss = 5\ndelay = "1 s"', ["a packet_loss takes no delay"]),
        ("packet_delay", "", ["a fault of kind packet_delay needs delay"]),
        ("packet_delay", 'delay = "10 ms"', ["must be from 0.05 to 5 s"]),
        ("packet_delay", 'delay = "1 s"\njitter = "0.6 s"', ["at most half of the delay (0.5 s)"]),
        ("packet_delay", 'delay = "1 s"\ncorrelation = 5', ["is of a jitter, and there is none"]),
        (
            "packet_delay",
            'delay = "9 s"\njitter = "3 s"\ncorrelation = 101\nloss = 3',
            [
                "must be from 0.05 to 5 s",
                "must be from 0.001 to 2.5 s",
                "must be from 1 to 100",
                "a packet_delay takes no loss",
            ],
        ),
    ],
)
def test_every_wrong_option_is_reported_at_once(kind: str, keys: str, texts: list[str]) -> None:
    found = wrong(kind, keys)
    for text in texts:
        assert any(text in one for one in found), (text, found)


def test_a_small_loss_needs_a_window_in_which_it_can_be_measured() -> None:
    assert "a loss of 1 % is measured for 6 s" in wrong("packet_loss", "loss = 1", "5 s")[0]
    assert read_scenario("mine", source("packet_loss", "loss = 1", "6 s"))
    assert read_scenario("mine", source("packet_loss", "loss = 20", "3 s"))


@pytest.mark.parametrize("kind", ["packet_loss", "packet_delay"])
def test_planning_says_where_packets_cannot_be_lost_or_late(kind: str) -> None:
    local = planned(Pair("kill", kind, "nested", OTHER), "local")
    assert isinstance(local, str)
    assert f"local offers no {kind}: netem acts on the interfaces of a network namespace" in local
    system = catalogue.load_system("rabbitmq-mirrored")
    layout = catalogue.load_layout("rabbitmq-mirrored", "all-automatic@T=10")
    scenario, client = plan(fault(kind)).scenario, chosen_client("pika")
    reasons = "; ".join(obstacles(scenario, system, layout, client, "external"))
    assert f"external offers no {kind}: mqproof changes no interfaces of hosts" in reasons


@pytest.mark.parametrize(
    ("one", "other"), [("packet_loss", "packet_delay"), ("packet_delay", "packet_delay")]
)
def test_one_host_has_one_queueing_discipline_at_a_time(one: str, other: str) -> None:
    refused = planned(Pair(one, other, "nested", SAME), "compose")
    assert isinstance(refused, str)
    assert "the end of one would undo the other" in refused
    assert not isinstance(planned(Pair(one, other, "nested", OTHER), "compose"), str)


def test_lossy_packets_hide_what_verifies_other_faults_of_the_host() -> None:
    for kind in ("partition", "hang", "alarm"):
        refused = planned(Pair("packet_loss", kind, "nested", SAME), "compose")
        assert isinstance(refused, str) and "hides" in refused, kind
    assert not isinstance(planned(Pair("packet_loss", "kill", "nested", SAME), "compose"), str)


def test_only_faults_of_packets_need_a_module_of_the_kernel() -> None:
    needy = {name for name, kind in KINDS.items() if kind.options().kernel_module}
    assert needy == {"packet_loss", "packet_delay"}
