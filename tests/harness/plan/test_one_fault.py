"""A fault by hand is read with the words and checks of a scenario's fault."""

from typing import Any

import pytest

from faults.core.targets import CLIENT
from faults.kinds import KINDS
from faults.kinds.client_links.slow import SlowOptions
from harness.plan.files.spans import Duration
from harness.plan.one_fault import obstacles, read_fault
from harness.plan.problems import PlanError
from harness.systems.catalogue import load_layout, load_system

FREEZE = {"kind": "freeze", "target": "master of orders", "lasts": "30s"}


def problems(**changes: Any) -> list[str]:
    with pytest.raises(PlanError) as error:
        read_fault(FREEZE | changes)
    return [str(one) for one in error.value.problems]


def test_a_queue_may_have_any_name_of_a_broker() -> None:
    fault = read_fault(FREEZE | {"target": "master of Orders.EU 7"})
    assert fault.target.queue == "Orders.EU 7"
    assert fault.lasts == Duration(seconds=30.0)
    assert fault.returns


def test_every_mistake_is_reported_with_its_argument() -> None:
    found = problems(kind="freze", target="mastr of x", lasts="3", dir=1)
    assert [one.partition(": ")[0] for one in found] == ["KIND", "TARGET", "--for", "--set dir"]
    assert "did you mean 'freeze'?" in found[0]
    assert found[2].endswith("valid: 10 s | 250 ms | 2 min"), "T is of a scenario"
    assert found[3].endswith(
        "valid: direction | shape | resource | latency | rate | bytes | down | up | loss | "
        "delay | jitter | correlation"
    )


def test_options_are_checked_as_in_a_scenario() -> None:
    assert problems(direction="both") == [
        "--set direction: a freeze takes no direction; only hang does"
    ]
    assert problems(kind="slow") == ["KIND: a fault of kind slow needs latency or rate"]
    assert read_fault(FREEZE | {"kind": "slow", "latency": "2 s"}).options == SlowOptions(
        latency_s=2.0
    )


@pytest.mark.parametrize("kind", [name for name, one in KINDS.items() if one.applies_to == CLIENT])
def test_a_fault_of_clients_is_refused(kind: str) -> None:
    (problem,) = problems(kind=kind, target="clients")
    assert "mqproof starts no clients beside clusters by hand" in problem


@pytest.mark.parametrize(
    "target", ["publisher-1", "name_server_of consumer-1", "uninvolved", "host of fault 1"]
)
def test_a_target_that_needs_a_run_is_refused(target: str) -> None:
    (problem,) = problems(target=target)
    assert problem.startswith(f"TARGET: {target!r} ")


@pytest.mark.parametrize("key", ["opens", "returns"])
def test_a_fault_by_hand_has_no_other_beginning_or_end(key: str) -> None:
    (problem,) = problems(**{key: "3 s"})
    assert problem.startswith(f"--set {key}: a fault by hand begins at once")


def test_clients_of_links_cannot_be_chosen() -> None:
    (problem,) = problems(kind="hang", clients="publishers")
    assert "the fault affects every client's link" in problem


def test_obstacles_are_those_of_a_scenario_on_the_layout() -> None:
    system = load_system("reference-mirrored")
    layout = load_layout("reference-mirrored", "all-automatic@T=10")
    assert obstacles(read_fault(FREEZE), system, layout, "local") == ()
    (why,) = obstacles(read_fault(FREEZE | {"target": "rmq7"}), system, layout, "local")
    assert why == "no host 'rmq7' (there are ref1, ref2, ref3)"
