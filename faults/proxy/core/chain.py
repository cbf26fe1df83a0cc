"""The toxics on one direction of one connection, in the order in which they were added.

1. What one pipe lets go comes to the next; what leaves the last is written to the other side.
2. Whether a toxicity between 0 and 1 takes effect is drawn when the connection, or the toxic,
   comes, and when the toxic is updated. A toxic that does not take effect passes everything.
3. Adding a toxic interrupts the one before it, and what that lets go passes the new one by.
   Removing a toxic lets everything that it holds go, and interrupts the one before it.
4. A pipe that has ended swallows whatever still comes, as a connection does that has ended.
"""

from collections.abc import Iterable
from random import Random

from faults.proxy.core.model import Toxic
from faults.proxy.core.toxics.catalogue import KINDS, Settings, ends_on_removal
from faults.proxy.core.toxics.flow import (
    END,
    Arrived,
    Chunk,
    Event,
    Interrupted,
    Item,
    Released,
    Retuned,
    Ticked,
)


class Chain:
    def __init__(self, toxics: Iterable[Toxic], random: Random, now_ns: int) -> None:
        self._random = random
        self._stages = [_Stage(toxic, random, now_ns) for toxic in toxics]
        self.ended = False

    @property
    def clean(self) -> bool:
        """Nothing is between the two sides, and nothing is held."""
        return not self._stages

    @property
    def full(self) -> bool:
        return any(stage.full for stage in self._stages)

    @property
    def due_ns(self) -> int | None:
        dues = [stage.due_ns for stage in self._stages]
        return min((due for due in dues if due is not None), default=None)

    def receive(self, octets: bytes, now_ns: int) -> list[Item]:
        return self._out([Chunk(octets, now_ns)], 0, now_ns)

    def end(self, now_ns: int) -> list[Item]:
        return self._out([END], 0, now_ns)

    def tick(self, now_ns: int) -> list[Item]:
        left: list[Item] = []
        for index, stage in enumerate(self._stages):
            if stage.due_ns is not None and stage.due_ns <= now_ns:
                left += self._out(stage.handle(Ticked(now_ns)), index + 1, now_ns)
        return left

    def add(self, toxic: Toxic, now_ns: int) -> list[Item]:
        left: list[Item] = []
        if self._stages:
            left = self._out(
                self._stages[-1].handle(Interrupted(now_ns)), len(self._stages), now_ns
            )
        self._stages.append(_Stage(toxic, self._random, now_ns))
        return left

    def update(self, toxic: Toxic, now_ns: int) -> list[Item]:
        index = self._index(toxic)
        return self._out(self._stages[index].update(toxic, now_ns), index + 1, now_ns)

    def remove(self, toxic: Toxic, now_ns: int) -> list[Item]:
        index = self._index(toxic)
        stage = self._stages[index]
        left = self._out(stage.remove(now_ns), index + 1, now_ns)
        if not stage.ended:
            if index:
                freed = self._stages[index - 1].handle(Interrupted(now_ns))
                left += self._out(freed, index + 1, now_ns)
            del self._stages[index]
        return left

    def _index(self, toxic: Toxic) -> int:
        return next(i for i, stage in enumerate(self._stages) if stage.name == toxic.name)

    def _out(self, items: list[Item], start: int, now_ns: int) -> list[Item]:
        """Return what leaves the chain when these come to the stage at `start`."""
        for stage in self._stages[start:]:
            if not items:
                return items
            items = [left for item in items for left in stage.handle(Arrived(now_ns, item))]
        if self.ended:
            return []
        self.ended = bool(items) and items[-1] is END
        return items


class _Stage:
    """A pipe and whether it takes effect. `name` is None once its toxic is gone."""

    def __init__(self, toxic: Toxic, random: Random, now_ns: int) -> None:
        self.name: str | None = toxic.name
        self.ended = False
        self._random = random
        self._settings = toxic.settings
        self._pipe = KINDS[toxic.type].make(toxic.settings, random, now_ns)
        self._in_effect = self._draw(toxic.toxicity)

    @property
    def full(self) -> bool:
        return self.ended or (self._in_effect and self._pipe.full)

    @property
    def due_ns(self) -> int | None:
        return self._pipe.due_ns if self._in_effect and not self.ended else None

    def handle(self, event: Event[Settings]) -> list[Item]:
        if self.ended:
            return []
        if self._in_effect:
            return self._let_go(self._pipe.handle(event))
        return self._let_go([event.item] if isinstance(event, Arrived) else [])

    def update(self, toxic: Toxic, now_ns: int) -> list[Item]:
        if self.ended:
            return []
        was_in_effect, self._in_effect = self._in_effect, self._draw(toxic.toxicity)
        self._settings = toxic.settings
        left = self._pipe.handle(Retuned(now_ns, toxic.settings))
        if was_in_effect and not self._in_effect:
            left += self._pipe.handle(Released(now_ns))
        return self._let_go(left)

    def remove(self, now_ns: int) -> list[Item]:
        self.name = None
        left = self.handle(Released(now_ns))
        if self.ended or not ends_on_removal(self._settings):
            return left
        return self._let_go([*left, END])

    def _let_go(self, items: list[Item]) -> list[Item]:
        self.ended = bool(items) and items[-1] is END
        return items

    def _draw(self, toxicity: float) -> bool:
        return self._random.random() < toxicity
