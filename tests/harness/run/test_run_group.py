"""Actions that runs ask for together are performed once; no run waits for ever."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from faults.core.actions import Action, Kill, Start
from faults.core.model import Executor, FaultError, Proof, Receipt
from harness.run.core.barrier import TargetProposal
from harness.run.run_group import Participant, RunGroup, alone
from tests.rigs.machine import virtual_time


class SlowExecutor:
    """An executor that takes a second, and fails `failures` times."""

    def __init__(self, failures: int = 0) -> None:
        self.performed: list[Action] = []
        self.on_its_way = 0
        self._failures = failures

    async def perform(self, action: Action) -> Receipt:
        assert not self.on_its_way, "an undo may not overtake what it undoes"
        self.on_its_way += 1
        await asyncio.sleep(1)
        self.on_its_way -= 1
        self.performed.append(action)
        if len(self.performed) <= self._failures:
            raise FaultError("the engine said no")
        return Receipt(len(self.performed), len(self.performed))

    def mechanism(self, kind: str) -> str:
        return kind


def of_fault(participant: Participant, executor: Executor) -> Executor:
    return participant.executor(executor, 1, undo=False)


def of_undo(participant: Participant, executor: Executor) -> Executor:
    return participant.executor(executor, 1, undo=True)


def play(story: Coroutine[Any, Any, None]) -> None:
    virtual_time.run(story)


def two() -> tuple[Participant, Participant]:
    group = RunGroup(("one", "two"))
    return group.participant("one"), group.participant("two")


def test_action_waits_for_all_runs_and_returns_one_shared_receipt() -> None:
    async def story() -> None:
        executor, (one, other) = SlowExecutor(), two()
        first = asyncio.create_task(of_fault(one, executor).perform(Kill("rmq1")))
        await asyncio.sleep(10)
        assert executor.performed == []
        receipt = await of_fault(other, executor).perform(Kill("rmq1"))
        assert await first == receipt
        assert executor.performed == [Kill("rmq1")]

    play(story())


def test_an_error_reaches_all_and_a_retry_is_performed() -> None:
    async def story() -> None:
        executor, participants = SlowExecutor(failures=1), two()
        requests = (
            of_undo(participant, executor).perform(Start("rmq1")) for participant in participants
        )
        outcomes = await asyncio.gather(*requests, return_exceptions=True)
        assert [str(each) for each in outcomes] == ["the engine said no"] * 2
        assert await of_undo(participants[0], executor).perform(Start("rmq1")) == Receipt(2, 2)
        assert executor.performed == [Start("rmq1")] * 2

    play(story())


def test_withdrawn_run_waits_with_its_undo_for_the_others() -> None:
    async def story() -> None:
        executor, (one, other) = SlowExecutor(), two()
        one.withdraw()
        early = asyncio.create_task(of_undo(one, executor).perform(Start("rmq1")))
        await asyncio.sleep(60)
        assert executor.performed == []
        assert await of_undo(other, executor).perform(Start("rmq1")) == await early
        assert executor.performed == [Start("rmq1")]

    play(story())


def test_pending_undo_is_performed_when_the_last_run_leaves() -> None:
    async def story() -> None:
        executor, (one, other) = SlowExecutor(), two()
        waiting = asyncio.create_task(of_undo(one, executor).perform(Start("rmq1")))
        await asyncio.sleep(1)
        other.withdraw()
        assert await waiting == Receipt(1, 1)

    play(story())


def test_a_started_action_survives_its_caller_and_precedes_its_undo() -> None:
    async def story() -> None:
        executor, participant = SlowExecutor(), alone()
        begun = asyncio.create_task(of_fault(participant, executor).perform(Kill("rmq1")))
        await asyncio.sleep(0.5)
        begun.cancel()
        await of_undo(participant, executor).perform(Start("rmq1"))
        assert executor.performed == [Kill("rmq1"), Start("rmq1")]

    play(story())


def test_a_window_opens_in_all_runs_or_in_none() -> None:
    async def story() -> None:
        one, other = two()
        same = await asyncio.gather(
            one.agree(1, TargetProposal("rmq1")), other.agree(1, TargetProposal("rmq1"))
        )
        assert list(same) == [None, None]
        found = await asyncio.gather(
            one.agree(2, TargetProposal("rmq1")), other.agree(2, TargetProposal("rmq2"))
        )
        assert all(found)

    play(story())


def test_different_actions_at_one_place_are_performed_each() -> None:
    """They should be the same; where they are not, nothing is skipped."""

    async def story() -> None:
        executor, participants = SlowExecutor(), two()
        requests = zip(participants, (Start("rmq1"), Start("rmq2")), strict=True)
        await asyncio.gather(
            *(of_undo(participant, executor).perform(action) for participant, action in requests)
        )
        assert set(executor.performed) == {Start("rmq1"), Start("rmq2")}

    play(story())


class Eye:
    """A look that takes a second."""

    def __init__(self, failure: str = "") -> None:
        self.looks = 0
        self._failure = failure

    async def look(self) -> Proof:
        self.looks += 1
        await asyncio.sleep(1)
        if self._failure:
            raise FaultError(self._failure)
        return Proof(ok=True, detail=f"look {self.looks}")


def test_shared_fault_is_checked_once_and_all_see_the_result() -> None:
    async def story() -> None:
        eye, (one, other) = Eye(), two()
        seen = [
            await participant.looked("verified of window 1", eye.look)
            for participant in (one, other)
        ]
        assert seen == [Proof(ok=True, detail="look 1")] * 2
        assert (await other.looked("gone of window 1", eye.look)).detail == "look 2"

    play(story())


def test_a_cancelled_waiter_ends_no_other_look() -> None:
    async def story() -> None:
        eye, (one, other) = Eye(), two()
        first = asyncio.create_task(one.looked("verified of window 1", eye.look))
        await asyncio.sleep(0.5)
        first.cancel()
        assert (await other.looked("verified of window 1", eye.look)).detail == "look 1"

    play(story())


def test_a_look_that_fails_fails_for_all() -> None:
    async def story() -> None:
        eye, participants = Eye("no answer"), two()
        requests = (
            participant.looked("verified of window 1", eye.look) for participant in participants
        )
        outcomes = await asyncio.gather(*requests, return_exceptions=True)
        assert [str(each) for each in outcomes] == ["no answer"] * 2
        assert eye.looks == 1

    play(story())


def test_single_run_ends_its_check_when_it_stops_waiting() -> None:
    async def story() -> None:
        eye, participant = Eye(), alone()
        looking = asyncio.create_task(participant.looked("verified of window 1", eye.look))
        await asyncio.sleep(0.5)
        looking.cancel()
        await asyncio.sleep(1)
        assert (await participant.looked("verified of window 1", eye.look)).detail == "look 2"

    play(story())
