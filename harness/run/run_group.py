"""Runs that are played together on one cluster: they wait for each other and share each fault.

1. An action of a fault, or of its undo, is performed once, when every participating run has asked
   for it. So no fault ends while another run verifies it. All runs get the same receipt or error.
2. An undo is never skipped because a run left: a run that has withdrawn waits for the others, and
   the remaining runs perform it. If a run asks again without knowing the outcome, the action is
   performed again.
3. An action that has begun is completed even if no run waits for it any more. A fault is never
   undone while one of its actions is in progress.
4. A shared fault is verified once: the first run looks, and all get its proof. One machine could
   not answer seven runs that each ask every host about every other one.
5. A run that is played alone is a group of one and waits for no other run.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass, field
from typing import Any

from faults.core.actions import Action
from faults.core.model import Executor, Proof, Receipt
from harness.run.core.barrier import NOTHING, Barrier, Refusal, TargetProposal, disagreement

Look = Callable[[], Coroutine[Any, Any, Proof]]


@dataclass(slots=True)
class _SharedAction:
    """An action at its place in a fault or an undo."""

    task: asyncio.Task[Receipt] | None = None
    waiting: set[str] = field(default_factory=set)  # runs that wait for it, or have its outcome

    def begins_for(self, run: str) -> bool:
        return self.task is None or (run in self.waiting and self.task.done())


class RunGroup:
    """A group of runs, which it knows by their names."""

    def __init__(self, runs: Collection[str]) -> None:
        self.size = len(runs)
        self._barrier = Barrier(runs)
        self._looks: dict[str, asyncio.Task[Proof]] = {}
        self._met: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._actions: defaultdict[tuple[str, Action], _SharedAction] = defaultdict(_SharedAction)
        self._one_by_one: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)  # by window

    def participant(self, run: str) -> "Participant":
        return Participant(self, run)

    async def arrive(
        self, run: str, point: str, proposal: TargetProposal = NOTHING
    ) -> Refusal | None:
        """Wait until the point is met; return why the run does not get the proposed fault."""
        self._release(self._barrier.arrive(run, point, proposal))
        if not self._barrier.met(point):
            await self._met[point].wait()
        return disagreement(run, self._barrier.proposals(point))

    def withdraw(self, run: str) -> None:
        self._release(self._barrier.withdraw(run))

    def others_go_on(self, run: str) -> bool:
        return self._barrier.others_go_on(run)

    async def once(
        self, run: str, point: str, window: int, executor: Executor, action: Action
    ) -> Receipt:
        """Perform the action once for all runs that arrive at this point with it."""
        await self.arrive(run, point)
        shared = self._actions[point, action]
        if shared.begins_for(run):
            shared.waiting.clear()
            shared.task = asyncio.create_task(self._perform(window, executor, action))
            shared.task.add_done_callback(_retrieve_error)
        shared.waiting.add(run)
        assert shared.task is not None, "it was begun"
        return await asyncio.shield(shared.task)

    async def looked(self, point: str, look: Look) -> Proof:
        """Return the proof of this point. A run that stops waiting ends no other run's look."""
        if self.size == 1:
            return await look()
        task = self._looks.get(point)
        if task is None:
            task = self._looks[point] = asyncio.create_task(look())
            task.add_done_callback(_retrieve_error)
        return await asyncio.shield(task)

    async def _perform(self, window: int, executor: Executor, action: Action) -> Receipt:
        async with self._one_by_one[window]:
            return await executor.perform(action)

    def _release(self, points: Collection[str]) -> None:
        for point in points:
            self._met[point].set()


class Participant:
    """One run's place in its group."""

    def __init__(self, group: RunGroup, run: str) -> None:
        self._group = group
        self._run = run

    @property
    def runs(self) -> int:
        """Return the number of runs in the group."""
        return self._group.size

    async def meet(self, point: str) -> None:
        """Wait until every participating run has arrived."""
        await self._group.arrive(self._run, point)

    async def agree(self, window: int, proposal: TargetProposal) -> Refusal | None:
        """Wait for all proposals; return why the window does not open, None if it opens."""
        return await self._group.arrive(self._run, f"target of window {window}", proposal)

    def executor(self, executor: Executor, window: int, undo: bool) -> Executor:
        """Return an executor for the actions of a window's fault, or of its undo.

        It performs them in order, from the first on, each once for all runs.
        """
        return _Once(self._group, self._run, executor, window, "undo" if undo else "fault")

    async def looked(self, point: str, look: Look) -> Proof:
        """Return the proof of a fault that is shared by all runs, taken once for all."""
        return await self._group.looked(point, look)

    def withdraw(self) -> None:
        """End this run's part: no other run waits for it. A second call is harmless."""
        self._group.withdraw(self._run)

    @property
    def others_go_on(self) -> bool:
        """Return whether this run has withdrawn while others still take part.

        Then it is not responsible for what happens to the cluster.
        """
        return self._group.others_go_on(self._run)


def alone() -> Participant:
    """Return the participant of a run that is played by itself."""
    return RunGroup(("",)).participant("")


class _Once:
    """faults.core.model.Executor of one participant, for one fault or one undo."""

    def __init__(
        self, group: RunGroup, run: str, executor: Executor, window: int, part: str
    ) -> None:
        self._group = group
        self._run = run
        self._executor = executor
        self._window = window
        self._part = part
        self._performed = 0

    async def perform(self, action: Action) -> Receipt:
        self._performed += 1
        point = f"{self._part} of window {self._window}, action {self._performed}"
        return await self._group.once(self._run, point, self._window, self._executor, action)

    def mechanism(self, kind: str) -> str:
        return self._executor.mechanism(kind)


def _retrieve_error(task: asyncio.Task[Any]) -> None:
    """Retrieve a task's error, so that the loop does not log it if no run waits for it."""
    if not task.cancelled():
        task.exception()
