"""What a truth implies, by kind: what has to be found, what may be, and what may not."""

from dataclasses import replace

import pytest

from harness.analyse.admitted import HELD, REDELIVERED, Admission
from harness.analyse.exactness import (
    AGAIN_NS,
    CAME_AGAIN,
    CLASSES,
    LEFT_TO_SUCCESSORS,
    REWOUND_NS,
    Compared,
    compared,
)
from harness.analyse.seen import Seen
from harness.run_folder.rows import Acknowledgement, Delivery
from spark_analysis.schema.body import Identity
from spark_analysis.schema.facts import Window
from spark_analysis.schema.findings import MARTS, Findings
from spark_analysis.schema.messages import Affected
from spark_analysis.schema.words import Redelivered, Via
from tests.rigs.runs.findings import ns

ONE, TWO = (1, 1), (1, 2)


def identity(sequence: int, attempt: int = 1, key: int = 0) -> Identity:
    return Identity(9, 1, sequence, attempt, key, 0)


def admit(kind: str, sequence: int, attempt: int = 1, by: Identity | None = None) -> Admission:
    return Admission(kind, identity(sequence, attempt), by)


REWIND = admit("rewind", 1)


class Story:
    """What clients recorded, and what the analysis found."""

    def __init__(self) -> None:
        self.seen = Seen()
        self.affected: list[Affected] = []

    def sent(self, sequence: int, attempt: int = 1, confirmed: bool = True) -> "Story":
        name, tried = (1, sequence), (1, sequence, attempt)
        self.seen.sent[name].add(tried)
        if confirmed:
            self.seen.confirmed[name].add(tried)
        return self

    def came(
        self, sequence: int, at_ns: int = 0, attempt: int = 1, flagged: bool = False, by: int = 1
    ) -> "Story":
        flag = Redelivered.YES if flagged else Redelivered.NO
        delivery = Delivery(
            7, 1, sequence, attempt, at_ns, "orders", "a", -1, flag, 1, 1, 1, Via.LOAD, by, 1
        )
        self.seen.deliveries[1, sequence].append(delivery)
        return self

    def found(self, measure: str, sequence: int, detail: str = "") -> "Story":
        self.affected.append(Affected("r", "orders", measure, detail, 1, sequence, 1, 0))
        return self

    def compared(self, what: str, *admissions: Admission) -> Compared:
        nothing = dict.fromkeys(MARTS, ())
        findings = Findings(**nothing | {"affected": tuple(self.affected)})  # type: ignore[arg-type]
        (one,) = (each for each in compared(admissions, self.seen, findings) if each.what == what)
        return one


def test_findings_without_admission_are_not_exact() -> None:
    story = Story().sent(1).came(1)
    for what, (measure, details) in CLASSES.items():
        assert story.compared(what).exact
        wrong = Story().sent(1).came(1).found(measure, 1, *details[:1]).compared(what)
        assert not wrong.exact
        assert wrong.invented == {ONE}


def test_redeliveries_and_publisher_retries_are_legal() -> None:
    story = Story().sent(1).came(1).came(1, 5, flagged=True)
    story.found("duplicated", 1, "redelivery").found("duplicated", 1, "publisher_retry")
    assert all(story.compared(what).exact for what in (*CLASSES, CAME_AGAIN))


def test_a_dropped_message_that_was_confirmed_has_to_be_lost() -> None:
    assert Story().sent(1).compared("lost", admit("drop", 1)).missed == {ONE}
    assert Story().sent(1).found("lost", 1).compared("lost", admit("drop", 1)).exact


def test_a_drop_whose_confirm_a_crash_swallowed_is_no_loss() -> None:
    unconfirmed = Story().sent(1, confirmed=False)
    assert unconfirmed.compared("lost", admit("drop", 1)).may == frozenset()
    retried = unconfirmed.sent(1, attempt=2).came(1, attempt=2)
    assert retried.compared("lost", admit("drop", 1)).may == frozenset()


def test_message_found_by_an_audit_is_stranded_not_lost() -> None:
    story = Story().sent(1).sent(2)
    story.seen.audited.add(ONE)
    truncated = admit("truncate", 1), admit("truncate", 2)
    for what, name in (("stranded", ONE), ("lost", TWO)):
        one = story.compared(what, *truncated)
        assert one.must == one.may == {name}


def test_only_a_delivered_rolled_back_half_must_be_found() -> None:
    story = Story().sent(1, confirmed=False).sent(2).came(1).came(2)
    story.seen.rolled_back.add((1, 1, 1))
    one = story.compared("rolled_back_but_delivered", admit("half", 1), admit("half", 2))
    assert (one.must, one.may) == ({ONE}, {ONE, TWO})
    assert story.found("rolled_back_but_delivered", 2).compared(
        "rolled_back_but_delivered", admit("half", 1)
    ).invented == {TWO}


def test_survival_of_an_unknown_attempt_beside_a_dropped_is_unproved() -> None:
    story = Story().sent(1, confirmed=False).sent(1, attempt=2)
    one = story.compared("lost", admit("drop", 1, attempt=2))
    assert (one.must, one.may) == (frozenset(), {ONE})


def test_a_loss_that_no_oracle_reports_is_invented() -> None:
    story = Story().sent(1).sent(2).found("lost", 1).found("lost", 2)
    assert story.compared("lost", admit("drop", 1)).invented == {TWO}


@pytest.mark.parametrize("kind", LEFT_TO_SUCCESSORS)
def test_early_confirmed_message_is_lost_unless_held_or_delivered(kind: str) -> None:
    story = Story().sent(1).sent(2).sent(3).came(2)
    admissions = [admit(kind, n) for n in (1, 2, 3)] + [admit(HELD, 3)]
    one = story.compared("lost", *admissions)
    assert one.must == one.may == {ONE}


def test_a_forgotten_delivery_that_had_arrived_is_no_loss() -> None:
    story = Story().sent(1).sent(2).came(1)
    one = story.compared("lost", admit("forget", 1), admit("forget", 2))
    assert one.must == one.may == {TWO}


@pytest.mark.parametrize("kind", ["drop", *LEFT_TO_SUCCESSORS, "forget"])
def test_lost_confirmed_copy_must_be_found_despite_another_delivery(kind: str) -> None:
    retried = Story().sent(1).sent(1, attempt=2).came(1, attempt=2)
    one = retried.compared("attempt_lost", admit(kind, 1))
    assert one.must == one.may == {ONE}
    assert retried.compared("lost", admit(kind, 1)).may == frozenset()


@pytest.mark.parametrize(
    "story",
    [
        Story().sent(1, confirmed=False).sent(1, attempt=2).came(1, attempt=2),
        Story().sent(1).sent(1, attempt=2).came(1).came(1, attempt=2),
        Story().sent(1).sent(1, attempt=2),
    ],
    ids=["never confirmed", "it came, too", "none came"],
)
def test_unconfirmed_or_delivered_copy_is_no_lost_copy(story: Story) -> None:
    """Count no copy as lost that belongs to a lost message either."""
    assert story.compared("attempt_lost", admit("forget", 1)).may == frozenset()


@pytest.mark.parametrize("kind", LEFT_TO_SUCCESSORS)
def test_a_copy_that_the_successor_held_is_not_lost(kind: str) -> None:
    story = Story().sent(1).sent(1, attempt=2).came(1, attempt=2)
    admissions = admit(kind, 1), admit(HELD, 1)
    assert story.compared("attempt_lost", *admissions).may == frozenset()


def test_unacknowledged_delivery_without_requeue_must_be_not_redelivered() -> None:
    story = Story().sent(1).came(1, 5)
    story.seen.ended_ns[7, 1] = 6
    one = story.compared("not_redelivered", admit("forget", 1))
    assert one.must == one.may == {ONE}
    assert story.sent(2).compared("not_redelivered", admit("forget", 2)).may == frozenset()


@pytest.mark.parametrize(
    ("ended_ns", "frames"),
    [({}, ()), ({(7, 1): 4}, ()), ({(7, 1): 6}, (Acknowledgement(7, 1, 1, 1, 5),))],
    ids=["its end is not on record", "it ended before", "acknowledged on its last way"],
)
def test_missing_redelivery_unknowable_to_clients_need_not_be_found(
    ended_ns: dict[tuple[int, int], int], frames: tuple[Acknowledgement, ...]
) -> None:
    story = Story().sent(1).came(1, 5)
    story.seen.ended_ns.update(ended_ns)
    story.seen.acknowledgements += frames
    one = story.compared("not_redelivered", admit("forget", 1))
    assert (one.must, one.may) == (frozenset(), {ONE})


def test_unflagged_second_delivery_of_a_confirmed_twin_is_stored_twice() -> None:
    story = Story().sent(1).came(1, 1).came(1, 2)
    assert story.compared("stored_twice", admit("duplicate", 1)).must == {ONE}
    assert story.compared(CAME_AGAIN, admit("duplicate", 1)).missed == {ONE}


def test_twin_behind_a_flag_may_count_as_a_redelivery() -> None:
    story = Story().sent(1).came(1, 1).came(1, 2, flagged=True)
    story.found("duplicated", 1, "redelivery")
    assert story.compared("stored_twice", admit("duplicate", 1)).exact
    assert story.compared(CAME_AGAIN, admit("duplicate", 1)).exact


def test_an_unconfirmed_twin_proves_nothing() -> None:
    story = Story().sent(1, confirmed=False)
    assert story.compared("stored_twice", admit("duplicate", 1)).must == frozenset()
    assert story.compared(CAME_AGAIN, admit("duplicate", 1)).must == frozenset()


def test_overtaken_message_must_be_found_if_both_places_are_certain() -> None:
    overtaken = admit("reorder", 1, by=identity(2))
    story = Story().sent(1).sent(2).came(2, 1).came(1, 2)
    assert story.compared("reordered", overtaken).must == {ONE}


@pytest.mark.parametrize(
    "story",
    [
        Story().sent(1, confirmed=False).sent(2).came(2, 1).came(1, 2),
        Story().sent(1).sent(2, confirmed=False).came(2, 1).came(1, 2),
        Story().sent(1).sent(2).came(2, 1).came(1, 2, flagged=True),
        Story().sent(1).sent(2).came(2, 1, flagged=True).came(1, 2),
        Story().sent(1).sent(2).came(2, 1),
    ],
    ids=["late unknown", "other unknown", "late flagged", "other flagged", "late not seen"],
)
def test_an_overtaking_beside_a_crash_may_be_not_judged(story: Story) -> None:
    one = story.compared("reordered", admit("reorder", 1, by=identity(2)))
    assert (one.must, one.may) == (frozenset(), {ONE})


def test_another_key_promises_no_order() -> None:
    story = Story().sent(1).sent(2).came(2, 1).came(1, 2)
    other_key = admit("reorder", 1, by=identity(2, key=5))
    assert story.compared("reordered", other_key).may == frozenset()


def test_confirm_may_prove_the_place_of_a_retry_in_order() -> None:
    story = Story().sent(1, confirmed=False).sent(1, attempt=2).sent(2)
    story.came(2, 1).came(1, 2, attempt=2)
    one = story.compared("reordered", admit("reorder", 1, attempt=2, by=identity(2)))
    assert (one.must, one.may) == (frozenset(), {ONE})


def test_two_consumers_are_two_lines() -> None:
    story = Story().sent(1).sent(2).came(2, 1).came(1, 2)
    (late,) = story.seen.deliveries[ONE]
    story.seen.deliveries[ONE] = [replace(late, consumer=8)]
    one = story.compared("reordered", admit("reorder", 1, by=identity(2)))
    assert (one.must, one.may) == (frozenset(), {ONE})


def test_corruption_has_to_be_found_where_it_was_confirmed() -> None:
    story = Story().sent(1).sent(2, confirmed=False)
    one = story.compared("corrupt", admit("corrupt", 1), admit("corrupt", 2))
    assert (one.must, one.may) == ({ONE}, {ONE, TWO})


def test_redelivery_by_one_master_must_be_found_on_its_connection() -> None:
    admissions = admit("redeliver", 1), admit(REDELIVERED, 1)
    same = Story().sent(1).came(1, 0).came(1, AGAIN_NS, flagged=True)
    assert same.compared("redelivery_after_ack", *admissions).must == {ONE}
    other = Story().sent(1).came(1, 0).came(1, AGAIN_NS, flagged=True, by=2)
    one = other.compared("redelivery_after_ack", *admissions)
    assert (one.must, one.may) == (frozenset(), {ONE})


def crash(over_s: float | None = 20) -> Window:
    """From 10 s on."""
    over_ns = None if over_s is None else ns(over_s)
    return Window(1, "kill", ns(10), ns(10), ns(15), True, True, "", over_ns)


def test_rewound_log_redelivery_must_be_found_on_the_same_connection() -> None:
    soon = Story().sent(1).came(1).came(1, REWOUND_NS - 1).compared("offset_rollback", REWIND)
    late = Story().sent(1).came(1).came(1, REWOUND_NS).compared("offset_rollback", REWIND)
    other = Story().sent(1).came(1).came(1, REWOUND_NS, by=2).compared("offset_rollback", REWIND)
    assert (soon.must, late.must, other.must) == (frozenset(), {ONE}, frozenset())
    assert soon.may == late.may == other.may == {ONE}
    again = Story().sent(1).came(1).came(1, REWOUND_NS).compared(CAME_AGAIN, REWIND)
    assert again.missed == {ONE}


@pytest.mark.parametrize(
    ("came_s", "acknowledged_s", "again_s", "is_proved"),
    [
        (8.5, 8.9, 12.0, True),
        (8.5, 9.0, 12.0, False),
        (8.5, 9.5, 12.0, False),
        (9.5, 10.2, 12.0, False),
        (9.5, 21.0, 25.0, False),
        (8.0, 9.5, 10.0, True),
        (21.0, 21.1, 25.0, True),
    ],
)
def test_redelivery_is_proved_if_no_fault_met_its_acknowledgement(
    came_s: float, acknowledged_s: float, again_s: float, is_proved: bool
) -> None:
    story = Story().sent(1).came(1, ns(came_s)).came(1, ns(again_s), flagged=True)
    story.seen.acknowledgements = [Acknowledgement(7, 1, 1, 1, ns(acknowledged_s))]
    story.seen.unsettled = (crash(),)
    one = story.compared("redelivery_after_ack", admit("redeliver", 1), admit(REDELIVERED, 1))
    assert (one.must, one.may) == (frozenset({ONE} if is_proved else ()), {ONE})


@pytest.mark.parametrize(
    "frame",
    [
        Acknowledgement(8, 1, 1, 1, ns(5)),
        Acknowledgement(7, 2, 1, 1, ns(5)),
        Acknowledgement(7, 1, 2, 9, ns(5)),
        Acknowledgement(7, 1, 0, 0, ns(5)),
    ],
)
def test_an_acknowledgement_of_something_else_proves_nothing_of_a_redelivery(
    frame: Acknowledgement,
) -> None:
    story = Story().sent(1).came(1, ns(4)).came(1, ns(12), flagged=True)
    story.seen.acknowledgements, story.seen.unsettled = [frame], (crash(),)
    admissions = admit("redeliver", 1), admit(REDELIVERED, 1)
    assert story.compared("redelivery_after_ack", *admissions).must == frozenset()


def test_a_fault_does_not_excuse_an_invented_finding() -> None:
    story = Story().sent(1).came(1, ns(1)).came(1, ns(12), flagged=True)
    story.seen.acknowledgements = [Acknowledgement(7, 1, 1, 1, ns(9.5))]
    story.seen.unsettled = (crash(),)
    story.found("duplicated", 1, "redelivery_after_ack")
    assert story.compared("redelivery_after_ack").invented == {ONE}


@pytest.mark.parametrize(
    ("first_s", "again_s", "over_s", "is_open"),
    [
        (9.9, 10.0, 20, False),
        (9.9, 10.1, 20, True),
        (11.0, 12.0, 20, True),
        (20.0, 21.0, 20, True),
        (20.1, 21.0, 20, False),
        (20.1, 21.0, None, True),
    ],
)
def test_twin_across_a_fault_may_be_ambiguous(
    first_s: float, again_s: float, over_s: float | None, is_open: bool
) -> None:
    story = Story().sent(1).came(1, ns(first_s)).came(1, ns(again_s))
    story.seen.unsettled = (crash(over_s),)
    named, nothing = frozenset({ONE}), frozenset[tuple[int, int]]()
    twice = story.compared("stored_twice", admit("duplicate", 1))
    assert (twice.must, twice.may) == (nothing if is_open else named, named)
    for admissions in ([admit("duplicate", 1)], []):
        ambiguous = story.compared("ambiguous", *admissions)
        assert (ambiguous.must, ambiguous.may) == (nothing, named if is_open else nothing)


def test_a_twin_may_come_after_the_acknowledgement_of_the_first() -> None:
    story = Story().sent(1).came(1, ns(9)).came(1, ns(12))
    story.found("duplicated", 1, "redelivery_after_ack")
    assert story.compared("redelivery_after_ack", admit("duplicate", 1)).exact
    assert story.compared("redelivery_after_ack").invented == {ONE}


def test_two_copies_after_a_fault_count_regardless_of_history() -> None:
    story = Story().sent(1).came(1, ns(9)).came(1, ns(21)).came(1, ns(22))
    story.seen.unsettled = (crash(),)
    assert story.compared("stored_twice", admit("duplicate", 1)).must == {ONE}


@pytest.mark.parametrize("later", [{"flagged": True}, {"attempt": 2}])
def test_flagged_or_retried_deliveries_are_never_ambiguous(later: dict[str, int]) -> None:
    story = Story().sent(1).sent(1, attempt=2).came(1, ns(9))
    story.came(1, ns(12), **later)  # type: ignore[arg-type]
    story.seen.unsettled = (crash(),)
    assert story.compared("ambiguous").may == frozenset()


@pytest.mark.parametrize(("written_ns", "is_open"), [(2, True), (5, False)])
def test_redelivery_may_have_crossed_its_acknowledgement(written_ns: int, is_open: bool) -> None:
    story = Story().sent(1).came(1, 1).came(1, 5, flagged=True)
    story.seen.acknowledgements = [Acknowledgement(7, 1, 1, 1, written_ns)]
    assert story.compared("ambiguous").may == frozenset({ONE} if is_open else ())


def test_a_twin_that_came_again_ambiguous_came_again() -> None:
    story = Story().sent(1).came(1, ns(9)).came(1, ns(12)).found("duplicated", 1, "ambiguous")
    assert story.compared(CAME_AGAIN, admit("duplicate", 1)).exact


def test_a_redelivery_must_come_from_the_reported_path() -> None:
    story = Story().sent(1).came(1)
    assert story.compared(CAME_AGAIN, admit("redeliver", 1)).missed == {ONE}
    story.found("duplicated", 1, "redelivery")
    assert story.compared(CAME_AGAIN, admit("redeliver", 1)).exact


def test_a_sentence_names_what_was_missed_and_what_was_invented() -> None:
    wrong = Compared("lost", frozenset({ONE}), frozenset({ONE}), frozenset({TWO}))
    assert str(wrong) == "lost: 1 found, 1 to be found, missed [(1, 1)], invented [(1, 2)]"
    assert str(replace(wrong, found=frozenset({ONE}))) == "lost: 1 found, 1 to be found"
