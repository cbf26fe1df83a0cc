"""A follower and a push that comes late: of a leader that is one no more, or of a connection that
its leader gave up."""

from reference_impl.rocketmq.dledger.entries import MESSAGE
from reference_impl.rocketmq.dledger.messages import AnswerCode, Push, PushKind
from reference_impl.rocketmq.dledger.rules import Rule
from reference_impl.rocketmq.dledger.taking import Taking
from reference_impl.rocketmq.simulator.world import World
from tests.reference_impl.rocketmq.dledger.groups import GROUP, DledgerGroup


def _late_cut(without: Rule | None, term: int = 0) -> tuple[AnswerCode, list[int]]:
    """A leader's numbers are confirmed; then one of its followers gets a TRUNCATE behind the
    first one. `term`: how much older it is."""
    group = DledgerGroup(World(1), 3, without=without)
    assert group.until(lambda: group.leader() != "", 10_000)
    leader = group.leader()
    for number in range(5):
        group.append(leader, number)
    group.world.run(3_000)
    name = next(name for name in group.names if name != leader)
    member = group.member(name)
    assert group.numbers(name) == [*range(5)]
    first = member.ledger.entry(1)
    assert first is not None
    assert first.magic == MESSAGE
    push = Push(
        group=GROUP,
        remote_id=name,
        leader_id=leader,
        term=member.term - term,
        kind=PushKind.TRUNCATE,
        commit_index=-1,
        index=1,
        entries=[first.octets],
    )
    taking: Taking = member._taking
    return taking.push(push).code, group.numbers(name)


def test_a_late_cut_of_the_same_leader_is_refused() -> None:
    assert _late_cut(None) == (AnswerCode.INCONSISTENT_STATE, [0, 1, 2, 3, 4])


def test_a_follower_that_obeys_it_loses_what_it_confirmed() -> None:
    assert _late_cut(Rule.KEEP_MATCHED) == (AnswerCode.SUCCESS, [0])


def test_a_late_cut_of_an_earlier_leader_is_refused() -> None:
    assert _late_cut(None, term=1) == (AnswerCode.INCONSISTENT_TERM, [0, 1, 2, 3, 4])


def test_a_follower_that_obeys_an_old_leader_loses_confirmed_entries() -> None:
    assert _late_cut(Rule.FENCE, term=1) == (AnswerCode.SUCCESS, [0])
