"""A fault that comes and goes: at its instants, until its end, and late changes."""

import asyncio
import time
from dataclasses import dataclass, field

import pytest

from faults.core.actions import Action, Cut, Join
from faults.core.model import Armed, FaultError, Receipt
from faults.kinds.network.flap import FlapOptions
from faults.kinds.network.partition import PartitionOptions
from faults.performing import perform_all
from faults.rhythm import Rhythm
from tests.rigs.clusters.fault_world import compiled_fault
from tests.rigs.machine import virtual_time

DOWN_S, UP_S = 0.2, 0.1


@dataclass
class Slow:
    """An executor each of whose actions takes so long."""

    takes_s: float = 0.0
    fails_from: int = 99
    done: list[tuple[str, float]] = field(default_factory=list)  # what, and when it had returned

    async def perform(self, action: Action) -> Receipt:
        issued_ns = time.monotonic_ns()
        await asyncio.sleep(self.takes_s)
        self.done.append((type(action).__name__, time.monotonic()))
        if len(self.done) >= self.fails_from:
            raise FaultError("the engine said no")
        return Receipt(issued_ns, time.monotonic_ns())

    def mechanism(self, kind: str) -> str:
        return ""


def flap(kind: str = "flap") -> Armed:
    hosts = ("rmq1", "rmq2", "rmq3")
    options = FlapOptions(down_s=DOWN_S, up_s=UP_S) if kind == "flap" else PartitionOptions()
    return compiled_fault(kind, "rmq1", hosts, options=options)


async def played(executor: Slow, for_s: float, kind: str = "flap") -> Rhythm:
    armed = flap(kind)
    rhythm = Rhythm(executor, armed, await perform_all(executor, armed.actions))
    await asyncio.sleep(for_s)
    await rhythm.end()
    return rhythm


def test_a_flap_is_armed_as_one_cut_and_one_join() -> None:
    armed = flap()
    assert [type(one) for one in (*armed.actions, *armed.undo)] == [Cut, Join]
    assert armed.rhythm == (DOWN_S, UP_S)


def test_a_flapping_link_alternates_until_the_end() -> None:
    executor = Slow()
    rhythm = virtual_time.run(played(executor, 3 * (DOWN_S + UP_S) - UP_S / 2))
    assert [what for what, _ in executor.done] == ["Cut", "Join"] * 3
    assert [(one.down, one.number) for one in rhythm.changes] == [
        (down, number) for number in (1, 2, 3) for down in (True, False)
    ]
    dues = [(one.due_ns - rhythm.changes[0].due_ns) / 1e9 for one in rhythm.changes]
    period = DOWN_S + UP_S
    assert dues == pytest.approx(
        [0, DOWN_S, period, period + DOWN_S, 2 * period, 2 * period + DOWN_S]
    )


def test_a_fault_without_a_rhythm_is_left_alone() -> None:
    executor = Slow()
    rhythm = virtual_time.run(played(executor, DOWN_S * 2, "partition"))
    assert [what for what, _ in executor.done] == ["Cut"]
    assert rhythm.changes == []
    assert rhythm.doubt == ""


def test_a_change_that_comes_late_is_a_doubt() -> None:
    rhythm = virtual_time.run(played(Slow(takes_s=0.08), 2 * (DOWN_S + UP_S)))
    assert "changes came late" in rhythm.doubt
    assert "where its phase lasts 0.1 s" in rhythm.doubt


def test_a_flap_ends_after_the_change_in_progress() -> None:
    """A join that was given up could still be undone by the cut that it overtook."""
    executor = Slow(takes_s=0.2)
    armed = flap()

    async def story() -> list[str]:
        began = time.monotonic_ns()
        rhythm = Rhythm(executor, armed, Receipt(began, began))
        await asyncio.sleep(DOWN_S + 0.05)  # the first join is under way
        await rhythm.end()
        return [what for what, _ in executor.done]

    assert virtual_time.run(story()) == ["Join"]


def test_a_rhythm_that_fails_reports_it_and_performs_no_more() -> None:
    executor = Slow(fails_from=2)
    rhythm = virtual_time.run(played(executor, 4 * (DOWN_S + UP_S)))
    assert rhythm.doubt.startswith("the rhythm broke off: the engine said no")
    assert [what for what, _ in executor.done] == ["Cut", "Join"]
