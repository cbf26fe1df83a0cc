"""Runs that are played together: they wait for each other, and what strikes all is done once.

1. An action of a fault is performed when every run that takes part has asked for it, and so is an
   action of its undo: nobody's look meets the end of what it looks at. All get the same receipt,
   or the same error.
2. An undo is never skipped because somebody left: who has withdrawn waits for the others, and
   whoever is left performs it. Who asks once more, of whom it is not known what came of it, has it
   performed once more.
3. What was begun goes on though who asked for it waits no more; nothing undoes a fault while an
   action of it is on its way.
4. What strikes all is looked at once, too: whoever comes first looks, and all see what he saw.
   Seven runs that each ask every host about every other one ask more than one machine answers.
5. A run that is played alone is one of one: nobody is waited for.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass, field
from typing import Any

from faults.actions import Action
from faults.model import Executor, Proof, Receipt
from harness.run.rendezvous import NOTHING, Aim, Rendezvous, disagreement

Look = Callable[[], Coroutine[Any, Any, Proof]]


@dataclass(slots=True)
class _Deed:
    """One action at its place in a fault or an undo."""

    task: asyncio.Task[Receipt] | None = None
    told: set[str] = field(default_factory=set)  # the runs that wait for it, or have its outcome

    def begins_for(self, run: str) -> bool:
        return self.task is None or (run in self.told and self.task.done())


class Together:
    """A group of runs, by their names."""

    def __init__(self, runs: Collection[str]) -> None:
        self.size = len(runs)
        self._rendezvous = Rendezvous(runs)
        self._looks: dict[str, asyncio.Task[Proof]] = {}
        self._met: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._deeds: defaultdict[tuple[str, Action], _Deed] = defaultdict(_Deed)
        self._one_by_one: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)  # by window

    def seat(self, run: str) -> "Seat":
        return Seat(self, run)

    async def come(self, run: str, point: str, aim: Aim = NOTHING) -> str:
        """Returns when the point is met: why the run suffers no fault that was aimed there."""
        self._tell(self._rendezvous.come(run, point, aim))
        if not self._rendezvous.met(point):
            await self._met[point].wait()
        return disagreement(run, self._rendezvous.said(point))

    def withdraw(self, run: str) -> None:
        self._tell(self._rendezvous.withdraw(run))

    def others_go_on(self, run: str) -> bool:
        return self._rendezvous.others_go_on(run)

    async def once(
        self, run: str, point: str, window: int, executor: Executor, action: Action
    ) -> Receipt:
        """The action, performed once for all runs that come to this point with it."""
        await self.come(run, point)
        deed = self._deeds[point, action]
        if deed.begins_for(run):
            deed.told.clear()
            deed.task = asyncio.create_task(self._perform(window, executor, action))
            deed.task.add_done_callback(_heard)
        deed.told.add(run)
        assert deed.task is not None, "it was begun"
        return await asyncio.shield(deed.task)

    async def looked(self, point: str, look: Look) -> Proof:
        """What is seen of this point. Who waits no longer ends nobody else's look."""
        if self.size == 1:
            return await look()
        task = self._looks.get(point)
        if task is None:
            task = self._looks[point] = asyncio.create_task(look())
            task.add_done_callback(_heard)
        return await asyncio.shield(task)

    async def _perform(self, window: int, executor: Executor, action: Action) -> Receipt:
        async with self._one_by_one[window]:
            return await executor.perform(action)

    def _tell(self, points: Collection[str]) -> None:
        for point in points:
            self._met[point].set()


class Seat:
    """The place of one run in its group."""

    def __init__(self, group: Together, run: str) -> None:
        self._group = group
        self._run = run

    @property
    def runs(self) -> int:
        """How many are in its group."""
        return self._group.size

    async def meet(self, point: str) -> None:
        """Returns when every run that takes part has come to it."""
        await self._group.come(self._run, point)

    async def agree(self, window: int, aim: Aim) -> str:
        """Why the window does not open, after all have aimed; "" where it opens in all runs."""
        return await self._group.come(self._run, f"aim of window {window}", aim)

    def executor(self, executor: Executor, window: int, undo: bool) -> Executor:
        """Performs the actions of a window's fault, or of its undo, in order and from the first
        on: each once for all runs."""
        return _Once(self._group, self._run, executor, window, "undo" if undo else "fault")

    async def looked(self, point: str, look: Look) -> Proof:
        """The proof of what strikes all runs, seen once for all."""
        return await self._group.looked(point, look)

    def withdraw(self) -> None:
        """This run comes to an end: nobody waits for it any more. Again is harmless."""
        self._group.withdraw(self._run)

    @property
    def others_go_on(self) -> bool:
        """Whether this run has withdrawn, and others take part still: what is done to the cluster
        is none of its doing."""
        return self._group.others_go_on(self._run)


def alone() -> Seat:
    """That of a run that is played by itself."""
    return Together(("",)).seat("")


class _Once:
    """faults.model.Executor of one seat, for one fault or one undo."""

    def __init__(
        self, group: Together, run: str, executor: Executor, window: int, deed: str
    ) -> None:
        self._group = group
        self._run = run
        self._executor = executor
        self._window = window
        self._deed = deed
        self._asked = 0

    async def perform(self, action: Action) -> Receipt:
        self._asked += 1
        point = f"{self._deed} of window {self._window}, action {self._asked}"
        return await self._group.once(self._run, point, self._window, self._executor, action)

    def mechanism(self, kind: str) -> str:
        return self._executor.mechanism(kind)


def _heard(task: asyncio.Task[Any]) -> None:
    """Its error is told to whoever waits; where nobody does any more, it is none of the loop's."""
    if not task.cancelled():
        task.exception()
