"""Members that come and go while others speak: what the ring owes to those that stay (3.1)."""

from random import Random

from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.reference_impl.mirrored.ring_members import NAME, RingMember, Rings
from tests.reference_impl.mirrored.simulated_nodes import SimulatedCluster

SEEDS = st.integers(0, 2**32 - 1)


class RingStory:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.names = "abcde"[: self.random.randint(2, 5)]
        self.cluster = SimulatedCluster(self.random, tuple(self.names))
        self.rings = Rings(self.cluster)
        self.rings.found("a")
        self.notes: list[str] = []
        deeds = [self.join, self.say, self.say, self.kill, self.start, self.crash, self.run]
        for _ in range(self.random.randint(3, 25)):
            deed = self.random.choice([*deeds, self.join, self.say, self.run, self.run])
            self.notes.append(deed.__name__)
            deed()
        self.cluster.settle()

    def living(self) -> list[RingMember]:
        return [
            member
            for member in self.rings.members.values()
            if member.pid in self.cluster.nodes[member.pid.node].processes
        ]

    def members(self) -> list[RingMember]:
        return [member for member in self.living() if member.ring.has_state]

    def everyone(self) -> list[RingMember]:
        return [*self.rings.members.values(), *self.rings.gone.values()]

    def join(self) -> None:
        taken = {member.pid.node for member in self.living()}
        free = [name for name in self.cluster.nodes if name not in taken]
        if free and self.living():
            self.rings.join(self.random.choice(free))

    def say(self) -> None:
        if self.living():
            self.rings.say(self.random.choice(self.living()), self.random.randint(1, 4))

    def kill(self) -> None:
        if len(self.cluster.nodes) > 1:
            self.rings.kill(self.random.choice(list(self.cluster.nodes)))

    def crash(self) -> None:
        if len(self.living()) > 1:
            self.rings.crash(self.random.choice(self.living()))

    def start(self) -> None:
        stopped = [name for name in self.names if name not in self.cluster.nodes]
        if stopped:
            self.rings.start(self.random.choice(stopped))

    def run(self) -> None:
        self.cluster.run(self.random.randint(1, 60))


def run_story(seed: int) -> RingStory:
    story = RingStory(seed)
    note("\n".join(story.notes))
    return story


@given(seed=SEEDS)
@settings(max_examples=150, deadline=None)
def test_members_hear_each_sender_in_order_without_gaps_or_repeats(seed: int) -> None:
    for member in run_story(seed).everyone():
        for sender in {sender for sender, _ in member.heard}:
            heard = member.heard_of(sender)
            assert heard == list(range(heard[0], heard[0] + len(heard)))


@given(seed=SEEDS)
@settings(max_examples=100, deadline=None)
def test_those_that_stay_have_heard_the_same_to_the_end(seed: int) -> None:
    members = run_story(seed).members()
    for sender in {sender for member in members for sender, _ in member.heard}:
        lasts = {
            member.heard_of(sender)[-1]
            for member in members
            if member.pid != sender and member.heard_of(sender)
        }
        assert len(lasts) == 1, sender


@given(seed=SEEDS)
@settings(max_examples=100, deadline=None)
def test_a_death_comes_after_all_broadcasts_of_the_dead_member(seed: int) -> None:
    for member in run_story(seed).everyone():
        for dead, heard_by_then in member.dead:
            assert [it for it in member.heard[heard_by_then:] if it[0] == dead] == []


@given(seed=SEEDS)
@settings(max_examples=100, deadline=None)
def test_at_rest_the_record_lists_exactly_the_living(seed: int) -> None:
    story = run_story(seed)
    if not story.living():
        return
    for node in story.cluster.nodes.values():
        group = node.tables.groups[NAME]
        assert all(member.alive for member in group.members)
        listed = {member.pid for member in group.members}
        assert listed == {member.pid for member in story.members()}


@given(seed=SEEDS)
@settings(max_examples=100, deadline=None)
def test_after_any_story_all_members_hear_what_each_says_next(seed: int) -> None:
    story = run_story(seed)
    members = story.members()
    for member in members:
        story.rings.say(member, 1)
    story.cluster.settle()
    for member in members:
        for other in members:
            if other is not member:
                assert other.heard_of(member.pid)[-1:] == [member.said]
