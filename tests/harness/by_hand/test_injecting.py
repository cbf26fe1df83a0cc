"""One fault by hand on a simulated cluster: its end, its exit code, and what it leaves."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from faults.core.actions import Freeze, Kill, Start
from harness.by_hand.choosing import ByHandChoice
from harness.by_hand.injecting import FaultsByHand
from harness.by_hand.starting import RunningByHand
from harness.judging.exits import Exit
from harness.plan.model import FaultPlan
from harness.plan.one_fault import read_fault
from harness.run.interrupts import Interrupt
from harness.run_folder.journal import JOURNAL, Journal, read, standing
from harness.systems.catalogue import load_system
from tests.rigs.clusters.simulated_cluster import SimulatedCluster
from tests.rigs.machine import virtual_time
from tests.rigs.runs.plans import LAYOUT


class ByHand:
    """The faults of one cluster, and what was reported of them."""

    def __init__(self, folder: Path) -> None:
        self.cluster = SimulatedCluster(LAYOUT)
        self.cluster.declared["orders"] = "rmq1"
        choice = ByHandChoice(load_system(LAYOUT.system), LAYOUT, LAYOUT.label)
        described = SimpleNamespace(cluster="mqproof-1")
        made: Any = SimpleNamespace(
            choice=choice,
            cluster=self.cluster,
            experiment=folder,
            ports=(),
            described=described,
        )
        self.faults = FaultsByHand(cast(RunningByHand, made))
        self.journal = folder / "runs" / LAYOUT.system / JOURNAL
        self.reported: list[str] = []

    async def play(self, fault: FaultPlan, interrupt: Interrupt | None = None) -> Exit:
        return await self.faults.play(fault, self.reported.append, interrupt or Interrupt())

    @property
    def armed(self) -> list[str]:
        return [one.resolved for one in standing(read(self.journal))]


@pytest.fixture
def by_hand(tmp_path: Path) -> ByHand:
    return ByHand(tmp_path)


def freeze(target: str = "master of orders", lasts: str = "10 ms") -> FaultPlan:
    return read_fault({"kind": "freeze", "target": target, "lasts": lasts})


def test_a_verified_fault_exits_with_0_and_leaves_nothing(by_hand: ByHand) -> None:
    assert virtual_time.run(by_hand.play(freeze(lasts="3 s"))) is Exit.PASSED
    assert by_hand.reported[0].startswith("injected freeze rmq1 (master of orders), ")
    assert by_hand.reported[1].startswith("verified active: ")
    assert by_hand.reported[2].startswith("undone, verified ended; it lasted 3.")
    assert by_hand.armed == [] and by_hand.faults.active == []


def test_a_fault_without_effect_is_not_verified(by_hand: ByHand) -> None:
    by_hand.cluster.executor.idle = True
    assert virtual_time.run(by_hand.play(freeze(lasts="200 ms"))) is Exit.NOT_DECIDED
    assert "not verified active" in by_hand.reported[-1]


def test_an_interrupt_undoes_the_fault_at_once(by_hand: ByHand) -> None:
    async def story() -> Exit:
        interrupt = Interrupt(by_hand.reported.append)
        playing = asyncio.create_task(by_hand.play(freeze(lasts="10 min"), interrupt))
        while not by_hand.reported:
            await asyncio.sleep(0)
        assert by_hand.armed == ["rmq1"]
        interrupt.ask()
        return await playing

    assert virtual_time.run(story()) is Exit.INTERRUPTED
    assert by_hand.reported[1] == "interrupted: undoing 1 fault"
    assert by_hand.armed == [] and not by_hand.cluster.world.frozen


def test_an_undo_that_fails_is_reported_and_stays_in_the_journal(by_hand: ByHand) -> None:
    by_hand.cluster.executor.refuse = (Start,)
    fault = read_fault({"kind": "kill", "target": "rmq2", "lasts": "10 ms"})
    assert virtual_time.run(by_hand.play(fault)) is Exit.NOT_DECIDED
    assert by_hand.reported[-1].startswith("NOT UNDONE: ")
    assert "`mqproof down`" in by_hand.reported[-1]
    assert by_hand.armed == ["rmq2"]
    assert virtual_time.run(by_hand.play(freeze("rmq2"))) is Exit.NOT_DECIDED
    assert "the end of one would undo the other" in by_hand.reported[-1]


def test_a_disk_that_takes_no_journal_prevents_the_fault(
    by_hand: ByHand, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "armed", full)
        with pytest.raises(OSError, match="No space left"):
            virtual_time.run(by_hand.play(freeze("rmq2")))
    assert by_hand.cluster.executor.performed == []
    virtual_time.run(by_hand.play(freeze("rmq2")))
    assert by_hand.reported[-1].startswith("undone, verified ended")


def test_two_faults_on_two_hosts_overlap(by_hand: ByHand) -> None:
    async def story() -> list[Exit]:
        kill = read_fault({"kind": "kill", "target": "rmq3", "lasts": "3 s"})
        return await asyncio.gather(by_hand.play(freeze("rmq2", "3 s")), by_hand.play(kill))

    assert virtual_time.run(story()) == [Exit.PASSED, Exit.PASSED]
    kinds: list[Callable[..., Any]] = [Freeze, Kill]
    assert {type(one) for one in by_hand.cluster.executor.performed} >= {*kinds}


def test_a_queue_that_no_broker_knows_is_no_target(by_hand: ByHand) -> None:
    by_hand.cluster.world.dead["rmq1"] = 137
    by_hand.cluster.elects = False
    assert virtual_time.run(by_hand.play(freeze())) is Exit.NOT_DECIDED
    assert by_hand.reported == [
        "nothing was injected: master of orders: no host says that it is the master"
    ]
