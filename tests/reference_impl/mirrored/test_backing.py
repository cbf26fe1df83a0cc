"""The messages of one copy against a plain list, with memory for all of them and for few."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from reference_impl.mirrored.backing import Backing
from reference_impl.mirrored.journal import Journal
from reference_impl.mirrored.paging import Sizes
from reference_impl.mirrored.store import Entry, Put
from reference_impl.mirrored.terms import QueueTerms
from reference_impl.process import Write
from tests.reference_impl.mirrored.fixed_world import QUEUE, FixedWorld
from tests.reference_impl.mirrored.messages_of import message
from tests.reference_impl.mirrored.replaying import replayed

SMALL = Sizes(segment=4, load=3, load_octets=1 << 20, batch=2, round_octets=6)


def backing(
    durable: bool = True, world: FixedWorld | None = None, sizes: Sizes | None = None
) -> Backing:
    world = world or FixedWorld()
    sizes = sizes or Sizes()
    world.segment_size = sizes.segment
    return Backing(QUEUE, Journal(QUEUE, durable), QueueTerms(world, QUEUE), world, sizes)


def flushed(world: FixedWorld, copy: Backing) -> None:
    """What its process does when all events at hand were handled."""
    copy.page_out()
    world.disk += [
        entry
        for effect in copy.journal.flush()
        if isinstance(effect, Write)
        for entry in effect.entries
    ]


class BackingAgainstAList(RuleBasedStateMachine):
    """`ready` and `taken`: (number, redelivered)."""

    def __init__(self) -> None:
        super().__init__()
        self.world = FixedWorld()
        self.backing = backing(world=self.world, sizes=SMALL)
        self.ready: list[tuple[int, bool]] = []
        self.taken: list[tuple[int, bool]] = []
        self.persistent: set[int] = set()
        self.sent = 0
        self.bodies: dict[int, bytes] = {}

    def put(self, number: int, persistent: bool) -> None:
        self.bodies[number] = str(self.sent).encode()
        (self.persistent.add if persistent else self.persistent.discard)(number)

    @rule(persistent=st.booleans(), count=st.integers(1, 9))
    def publish(self, persistent: bool, count: int) -> None:
        for _ in range(count):
            self.sent += 1
            number = self.backing.publish(message(self.sent, persistent=persistent))
            self.ready.append((number, False))
            self.put(number, persistent)

    @rule(persistent=st.booleans())
    def publish_taken(self, persistent: bool) -> None:
        self.sent += 1
        number = self.backing.publish_taken(message(self.sent, persistent=persistent))
        self.taken.append((number, False))
        self.put(number, persistent)

    @precondition(lambda self: self.ready)
    @rule(count=st.integers(1, 9), looked_at=st.booleans())
    def take(self, count: int, looked_at: bool) -> None:
        for _ in range(min(count, len(self.ready))):
            number = self.backing.take()
            assert number == self.ready[0][0]
            if looked_at:
                assert self.backing.message(number).body == self.bodies[number]
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
        assert self.backing.remove([number]) == (self.bodies[number],)

    @rule()
    def drop(self) -> None:
        assert self.backing.drop() == len(self.ready)
        self.ready.clear()

    @rule()
    def mark_redelivered(self) -> None:
        self.backing.mark_redelivered()
        self.ready = [(number, True) for number, _ in self.ready]
        self.taken = [(number, True) for number, _ in self.taken]

    @rule(lasts_s=st.sampled_from([None, 0.0, 0.0, 1.0]))
    def memory_is_short(self, lasts_s: float | None) -> None:
        self.world.ms += 5_000
        self.backing.may_keep(lasts_s)

    @rule()
    def flush(self) -> None:
        flushed(self.world, self.backing)

    @rule()
    def its_node_starts_again(self) -> None:
        flushed(self.world, self.backing)
        self.backing = backing(world=self.world, sizes=SMALL)
        self.backing.restore()
        held = sorted([*self.ready, *self.taken])
        self.ready = [(number, True) for number, _ in held if number in self.persistent]
        self.taken = []

    @invariant()
    def it_counts(self) -> None:
        assert self.backing.ready == len(self.ready)
        assert self.backing.taken == len(self.taken)
        assert self.backing.depth == len(self.ready) + len(self.taken)
        assert self.backing.ready_octets == sum(len(self.bodies[it]) for it, _ in self.ready)
        assert sum(self.backing.lengths().values()) == len(self.ready)

    @invariant()
    def its_lines_are_in_order(self) -> None:
        of = self.backing.lengths()
        requeued = len(self.backing._lowest.requeued)
        assert not of["q1"] or of["q3"]
        assert not of["q2"] or of["delta"]
        assert not of["delta"] or of["q3"]
        assert bool(self.ready) == bool(of["q3"] or of["q4"])
        assert requeued <= of["q4"]

    @precondition(lambda self: not self.backing.journal.has_entries)
    @invariant()
    def it_holds_the_same(self) -> None:
        held = sorted(
            [
                *((number, redelivered, False) for number, redelivered in self.ready),
                *((number, redelivered, True) for number, redelivered in self.taken),
            ]
        )
        found = list(self.backing.all())
        assert held == [
            (number, self.backing.is_redelivered(number), taken) for number, _, taken in found
        ]
        assert all(copy.body == self.bodies[number] for number, copy, _ in found)

    @precondition(lambda self: not self.backing.journal.has_entries)
    @invariant()
    def the_disk_holds_what_is_persistent_and_what_memory_does_not(self) -> None:
        held = {number for number, _ in [*self.ready, *self.taken]}
        on_disk = set(replayed(self.world.disk))
        assert held & self.persistent <= on_disk <= held


TestBackingAgainstAList = BackingAgainstAList.TestCase
TestBackingAgainstAList.settings = settings(
    max_examples=150, stateful_step_count=60, deadline=None
)


def test_messages_restored_from_disk_keep_their_order_and_are_redelivered() -> None:
    world = FixedWorld()
    world.disk = [Put(3, message("c")), Put(7, message("g"))]
    again = backing(world=world)
    again.restore()
    assert again.publish(message("h")) == 8
    assert [(number, again.is_redelivered(number)) for number, _, _ in again.all()] == [
        (3, True),
        (7, True),
        (8, False),
    ]
    assert again.journal.flush()[0] == Write("q", (*_puts(8, "h"),))


def test_a_restored_message_is_finally_removed_from_disk() -> None:
    world = FixedWorld()
    world.disk = _puts(3, "c")
    again = backing(world=world)
    again.restore()
    again.remove([again.take()])
    flushed(world, again)
    assert replayed(world.disk) == {}


def test_a_queue_that_is_not_durable_writes_nothing() -> None:
    transient = backing(durable=False)
    transient.publish(message("a"))
    transient.drop()
    assert transient.journal.flush() == []


def test_all_of_it_goes_when_it_is_cleared() -> None:
    full = backing()
    full.publish(message("a"))
    full.publish_taken(message("b"))
    full.clear()
    assert (full.ready, full.taken, full.depth) == (0, 0, 0)
    assert list(full.all()) == []


def test_a_backlog_needs_almost_no_memory_and_keeps_its_order() -> None:
    world = FixedWorld()
    full = backing(durable=False, world=world, sizes=SMALL)
    full.may_keep(0.0)
    for number in range(1, 1_001):
        full.publish(message(number))
        flushed(world, full)
    assert full.in_memory == 0
    assert len(full._held) <= SMALL.segment + SMALL.batch
    taken = [full.message(full.take()).body for _ in range(1_000)]
    assert taken == [str(number).encode() for number in range(1, 1_001)]


def test_a_paged_out_message_expires_at_its_time() -> None:
    world = FixedWorld()
    short = backing(durable=False, world=world, sizes=SMALL)
    short.may_keep(0.0)
    for number in range(40):
        world.ms = number
        short.publish(message(number, lives_ms=1_000))
        flushed(world, short)
    for number in range(40):
        assert short.head_over_ms() == 1_000 + number
        short.take()


def test_paged_out_transient_messages_do_not_survive_a_restart() -> None:
    world = FixedWorld()
    short = backing(world=world, sizes=SMALL)
    short.may_keep(0.0)
    for number in range(20):
        short.publish(message(number, persistent=number % 2 == 0))
        flushed(world, short)
    again = backing(world=world, sizes=SMALL)
    again.restore()
    flushed(world, again)
    assert [it.body for _, it, _ in again.all()] == [b"%d" % it for it in range(0, 20, 2)]
    assert len(replayed(world.disk)) == 10


def test_a_queue_read_while_paging_out_is_read_completely() -> None:
    world = FixedWorld()
    full = backing(world=world, sizes=SMALL)
    for number in range(30):
        full.publish(message(number))
    flushed(world, full)
    copies = full.all()
    seen = [next(copies)[1].body for _ in range(3)]
    full.may_keep(0.0)
    while full.is_too_long:
        flushed(world, full)
    seen += [copy.body for _, copy, _ in copies]
    assert seen == [b"%d" % number for number in range(30)]


def _puts(number: int, name: str) -> list[Entry]:
    return [Put(number, message(name))]
