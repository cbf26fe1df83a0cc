"""The messages of one copy against a plain list."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from reference_impl.mirrored.backing import Backing
from reference_impl.mirrored.journal import Journal
from reference_impl.mirrored.store import Entry, Put, replayed
from reference_impl.mirrored.terms import Terms
from reference_impl.process import Write
from tests.reference_impl.mirrored.fixed_world import FixedWorld
from tests.reference_impl.mirrored.messages_of import message


def backing(durable: bool = True) -> Backing:
    return Backing(Journal("q", durable), Terms(FixedWorld(), "q"))


class BackingAgainstAList(RuleBasedStateMachine):
    """`ready` and `taken`: (number, redelivered)."""

    def __init__(self) -> None:
        super().__init__()
        self.backing = backing()
        self.ready: list[tuple[int, bool]] = []
        self.taken: list[tuple[int, bool]] = []
        self.persistent: set[int] = set()
        self.written: list[Entry] = []

    @rule(persistent=st.booleans())
    def publish(self, persistent: bool) -> None:
        number = self.backing.publish(message("m", persistent=persistent))
        self.ready.append((number, False))
        self.persistent |= {number} if persistent else set()

    @rule()
    def publish_taken(self) -> None:
        number = self.backing.publish_taken(message("m"))
        self.taken.append((number, False))
        self.persistent.add(number)

    @precondition(lambda self: self.ready)
    @rule()
    def take(self) -> None:
        assert self.backing.take() == self.ready[0][0]
        self.taken.append(self.ready.pop(0))

    @precondition(lambda self: self.taken)
    @rule(count=st.integers(1, 3))
    def requeue(self, count: int) -> None:
        numbers = [number for number, _ in self.taken][-count:]
        self.backing.requeue(reversed(numbers))
        self.taken = [it for it in self.taken if it[0] not in numbers]
        self.ready = sorted([*self.ready, *((number, True) for number in numbers)])

    @precondition(lambda self: self.taken)
    @rule()
    def remove(self) -> None:
        number, _ = self.taken.pop(0)
        self.backing.remove([number])

    @rule()
    def drop(self) -> None:
        assert sorted(self.backing.drop()) == [number for number, _ in self.ready]
        self.ready.clear()

    @rule()
    def mark_redelivered(self) -> None:
        self.backing.mark_redelivered()
        self.ready = [(number, True) for number, _ in self.ready]
        self.taken = [(number, True) for number, _ in self.taken]

    @invariant()
    def it_counts(self) -> None:
        assert self.backing.ready == len(self.ready)
        assert self.backing.taken == len(self.taken)
        assert self.backing.depth == len(self.ready) + len(self.taken)

    @invariant()
    def it_holds_the_same(self) -> None:
        held = sorted(
            [
                *((number, redelivered, False) for number, redelivered in self.ready),
                *((number, redelivered, True) for number, redelivered in self.taken),
            ]
        )
        assert held == [
            (number, self.backing.is_redelivered(number), taken)
            for number, _, taken in self.backing.all()
        ]

    @invariant()
    def the_disk_holds_what_is_persistent(self) -> None:
        for effect in self.backing.journal.flush():
            if isinstance(effect, Write):
                self.written += effect.entries
        held = {number for number, _ in [*self.ready, *self.taken]}
        assert set(replayed(self.written)) == held & self.persistent


TestBackingAgainstAList = BackingAgainstAList.TestCase
TestBackingAgainstAList.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_what_comes_back_from_disk_keeps_its_places_and_is_redelivered() -> None:
    again = backing()
    again.restore({3: message("c"), 7: message("g")})
    assert again.publish(message("h")) == 8
    assert [(number, again.is_redelivered(number)) for number, _, _ in again.all()] == [
        (3, True),
        (7, True),
        (8, False),
    ]
    assert again.journal.flush()[0] == Write("q", (*_puts(8, "h"),))


def test_what_came_back_from_disk_is_removed_from_it_in_the_end() -> None:
    again = backing()
    again.restore({3: message("c")})
    again.remove([again.take()])
    (write,) = again.journal.flush()
    assert isinstance(write, Write)
    assert replayed([*_puts(3, "c"), *write.entries]) == {}


def test_a_queue_that_is_not_durable_writes_nothing() -> None:
    transient = backing(durable=False)
    transient.publish(message("a"))
    transient.drop()
    assert transient.journal.flush() == []


def test_all_of_it_goes_when_it_is_cleared() -> None:
    full = backing()
    full.publish(message("a"))
    full.publish_taken(message("b"))
    assert full.clear() == [1, 2]
    assert (full.ready, full.depth) == (0, 0)


def _puts(number: int, name: str) -> list[Entry]:
    return [Put(number, message(name))]
