"""Three outcomes: ack, nack, never."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.amqp.rules.confirms import Confirms, Verdict
from reference_impl.amqp.rules.routing import Target
from reference_impl.pid import Pid
from reference_impl.process import CRASH, NO_CONNECTION, NO_PROCESS, NORMAL, SHUTDOWN

MASTER, MIRROR, OTHER = (Pid(node, 1, 7) for node in ("a", "b", "c"))
MIRRORED = (Target("q", (MASTER, MIRROR), MASTER),)
TWO_QUEUES = (Target("q", (MASTER,), MASTER), Target("r", (OTHER,), OTHER))


def ack(sequence: int, multiple: bool = False) -> Verdict:
    return Verdict(sequence, multiple, taken=True)


def nack(sequence: int, multiple: bool = False) -> Verdict:
    return Verdict(sequence, multiple, taken=False)


def test_acked_when_the_last_replica_has_confirmed() -> None:
    confirms = Confirms()
    confirms.expect(MIRRORED)
    confirms.confirm("q", MIRROR, [1])
    assert confirms.verdicts() == []
    confirms.confirm("q", MASTER, [1])
    assert confirms.verdicts() == [ack(1)]


def test_a_replica_that_confirms_twice_counts_once() -> None:
    confirms = Confirms()
    confirms.expect(MIRRORED)
    confirms.confirm("q", MIRROR, [1, 1])
    confirms.confirm("q", MIRROR, [1])
    assert not confirms.settled


@pytest.mark.parametrize("reason", [SHUTDOWN, NO_PROCESS, NO_CONNECTION])
def test_a_benign_end_shrinks_what_is_waited_for(reason: str) -> None:
    confirms = Confirms()
    confirms.expect(MIRRORED)
    confirms.confirm("q", MASTER, [1])
    confirms.down(MIRROR, reason)
    assert confirms.verdicts() == [ack(1)]


def test_nacked_when_all_went_without_a_confirm() -> None:
    confirms = Confirms()
    confirms.expect(MIRRORED)
    confirms.down(MASTER, NO_CONNECTION)
    assert not confirms.settled
    confirms.down(MIRROR, SHUTDOWN)
    assert confirms.verdicts() == [nack(1)]


def test_a_master_that_ends_after_its_confirm_counts() -> None:
    confirms = Confirms()
    confirms.expect(MIRRORED)
    confirms.confirm("q", MASTER, [1])
    confirms.down(MASTER, NO_CONNECTION)
    assert not confirms.settled
    confirms.confirm("q", MIRROR, [1])
    assert confirms.verdicts() == [ack(1)]


def test_a_crash_nacks_and_a_later_confirm_changes_nothing() -> None:
    confirms = Confirms()
    confirms.expect(MIRRORED)
    confirms.down(MIRROR, CRASH)
    assert confirms.verdicts() == [nack(1)]
    confirms.confirm("q", MASTER, [1])
    assert confirms.verdicts() == []


def test_a_deleted_queue_has_taken_it() -> None:
    confirms = Confirms()
    confirms.expect(MIRRORED)
    confirms.down(MASTER, NORMAL)
    assert confirms.verdicts() == [ack(1)]


def test_a_mirror_that_refuses_to_take_over_has_taken_nothing() -> None:
    confirms = Confirms()
    confirms.expect(MIRRORED)
    confirms.down(MASTER, NO_CONNECTION)
    confirms.down(MIRROR, NORMAL)
    assert confirms.verdicts() == [nack(1)]


def test_a_mirrors_confirm_before_its_refusal_still_acks() -> None:
    confirms = Confirms()
    confirms.expect(MIRRORED)
    confirms.confirm("q", MIRROR, [1])
    confirms.down(MASTER, NO_CONNECTION)
    confirms.down(MIRROR, NORMAL)
    assert confirms.verdicts() == [ack(1)]


def test_no_replica_is_a_nack_and_no_queue_an_ack() -> None:
    confirms = Confirms()
    confirms.expect([Target("q", (), None)])
    confirms.expect([])
    assert confirms.verdicts() == [ack(2), nack(1)]


def test_several_queues_must_all_take_it() -> None:
    confirms = Confirms()
    confirms.expect(TWO_QUEUES)
    confirms.confirm("q", MASTER, [1])
    assert not confirms.settled
    confirms.confirm("r", OTHER, [1])
    assert confirms.verdicts() == [ack(1)]


def test_one_queue_that_does_not_take_it_nacks_the_whole() -> None:
    confirms = Confirms()
    confirms.expect(TWO_QUEUES)
    confirms.confirm("q", MASTER, [1])
    confirms.down(OTHER, NO_CONNECTION)
    assert confirms.verdicts() == [nack(1)]


def test_an_unanswered_publish_is_never_settled() -> None:
    confirms = Confirms()
    confirms.expect(MIRRORED)
    confirms.confirm("q", MASTER, [1])
    confirms.confirm("r", MIRROR, [1])
    confirms.down(OTHER, NO_CONNECTION)
    assert not confirms.settled


def test_below_the_cutoff_goes_as_one_and_the_rest_singly() -> None:
    confirms = Confirms()
    for _ in range(6):
        confirms.expect([Target("q", (MASTER,), MASTER)])
    confirms.confirm("q", MASTER, [5, 2, 1, 6, 3])
    assert confirms.verdicts() == [ack(3, multiple=True), ack(5), ack(6)]


def test_a_multiple_ack_never_covers_a_nack() -> None:
    confirms = Confirms()
    for _ in range(4):
        confirms.expect([Target("q", (MASTER,), MASTER)])
    confirms.reject([3])
    confirms.confirm("q", MASTER, [1, 2, 4])
    assert confirms.verdicts() == [ack(2, multiple=True), ack(4), nack(3)]


def test_a_multiple_nack_never_covers_an_ack() -> None:
    confirms = Confirms()
    for _ in range(4):
        confirms.expect([Target("q", (MASTER,), MASTER)])
    confirms.reject([1, 2, 4])
    confirms.confirm("q", MASTER, [3])
    assert confirms.verdicts() == [ack(3), nack(2, multiple=True), nack(4)]


def test_one_alone_is_never_multiple() -> None:
    confirms = Confirms()
    confirms.expect([])
    assert confirms.verdicts() == [ack(1)]


# --- against a model that remembers everything ------------------------------------------------

REPLICAS = {"q": (MASTER, MIRROR), "r": (OTHER,), "gone": ()}
MASTERS = {"q": MASTER, "r": OTHER, "gone": None}
_queues = st.lists(st.sampled_from(sorted(REPLICAS)), unique=True)
_pids = st.sampled_from([MASTER, MIRROR, OTHER])
_publish = st.tuples(st.just("publish"), _queues)
_confirm = st.tuples(st.just("confirm"), _pids, st.sets(st.integers(1, 12), max_size=6))
_reject = st.tuples(st.just("reject"), st.sampled_from(["q", "r"]), st.integers(1, 12))
_down = st.tuples(
    st.just("down"), _pids, st.sampled_from([NORMAL, SHUTDOWN, NO_CONNECTION, CRASH])
)
_look = st.tuples(st.just("look"))


class Model:
    """Per publish and queue: who must answer and who did; the outcome is computed again each
    time."""

    def __init__(self) -> None:
        self.awaited: dict[int, dict[str, dict[Pid, str | None]]] = {}

    def outcome(self, sequence: int) -> bool | None:
        fates = [self.fate(answers) for answers in self.awaited[sequence].values()]
        if False in fates:
            return False
        return None if None in fates else True

    @staticmethod
    def fate(answers: dict[Pid, str | None]) -> bool | None:
        said = list(answers.values())
        if "crash" in said:
            return False
        if "deleted" in said:
            return True
        return None if None in said else "confirmed" in said


def _queue_of(pid: Pid) -> str:
    return next(queue for queue, pids in REPLICAS.items() if pid in pids)


def _play(
    confirms: Confirms, model: Model, steps: list[tuple[Any, ...]]
) -> Iterator[list[Verdict]]:
    numbers, alive = count(1), {MASTER, MIRROR, OTHER}
    for step in steps:
        match step:
            case ("publish", queues):
                replicas = {it: tuple(p for p in REPLICAS[it] if p in alive) for it in queues}
                targets = [Target(it, pids, MASTERS[it]) for it, pids in replicas.items()]
                confirms.expect(targets)
                waits = {queue: dict.fromkeys(pids) for queue, pids in replicas.items()}
                model.awaited[next(numbers)] = waits
            case ("confirm", pid, sequences) if pid in alive:
                confirms.confirm(_queue_of(pid), pid, sorted(sequences))
                _mark(model, pid, "confirmed", sequences)
            case ("reject", queue, sequence):
                confirms.reject([sequence])
                if sequence in model.awaited and model.outcome(sequence) is None:
                    model.awaited[sequence] = {queue: {MASTER: "crash"}}
            case ("down", pid, reason) if pid in alive:
                alive.discard(pid)
                confirms.down(pid, reason)
                said = {NORMAL: "deleted", CRASH: "crash"}.get(reason, "benign")
                if said == "deleted" and pid == MIRROR:
                    said = "benign"
                _mark(model, pid, said, set(model.awaited))
            case ("look",):
                yield confirms.verdicts()
    yield confirms.verdicts()


def _mark(model: Model, pid: Pid, said: str, sequences: set[int]) -> None:
    for sequence in sorted(sequences & set(model.awaited)):
        if model.outcome(sequence) is not None:
            continue  # settled: nothing changes it any more
        for answers in model.awaited[sequence].values():
            if pid in answers and answers[pid] is None:
                answers[pid] = said


@given(st.lists(st.one_of(_publish, _publish, _confirm, _confirm, _reject, _down, _look)))
def test_any_interleaving_ends_as_the_model_says(steps: list[tuple[Any, ...]]) -> None:
    confirms, model = Confirms(), Model()
    confirmed: dict[int, bool] = {}
    for verdicts in _play(confirms, model, steps):
        for verdict in verdicts:
            first = 1 if verdict.multiple else verdict.sequence
            for sequence in range(first, verdict.sequence + 1):
                # `multiple` may cover earlier verdicts; its own number must be news.
                assert sequence not in confirmed or sequence < verdict.sequence, "told twice"
                confirmed.setdefault(sequence, verdict.taken)
    settled = {it: model.outcome(it) for it in model.awaited}
    assert confirmed == {it: outcome for it, outcome in settled.items() if outcome is not None}
