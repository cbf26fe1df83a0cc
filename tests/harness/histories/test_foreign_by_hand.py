"""Hand-made histories of Jepsen and OpenChaos, whose true answers were argued before anything
judged them: what is counted, which promises FAIL and which PASS, or which error stops it."""

import pytest

from harness.analyse.history import WORDS, evidence
from harness.claims.claims import shipped
from harness.claims.judge import ClaimOutcome, judge
from harness.histories.declared import declaring, of_words
from harness.plan.problems import PlanError
from tests.rigs.histories.claim_names import (
    COPY,
    DELIVERED,
    ONE_COPY,
    REFUSED,
    UNEXPECTED,
)
from tests.rigs.histories.foreign_files import (
    DRAINED,
    ForeignCase,
    ForeignCases,
    lines,
    ops,
    sent,
    taken,
    without,
)

CASES = ForeignCases()
case = CASES.case


# --- indeterminate operations --------------------------------------------------------------------


@case(revived=1)
def an_enqueue_of_unknown_end_comes() -> str:
    return ops("0 invoke enqueue 1\n0 info enqueue 1", taken(1), DRAINED)


@case(lost_indeterminate=1)
def an_enqueue_of_unknown_end_never_comes() -> str:
    return ops("0 invoke enqueue 1\n0 info enqueue 1", DRAINED)


@case(revived=1)
def an_enqueue_without_an_end_comes() -> str:
    return ops("0 invoke enqueue 1", taken(1), DRAINED)


@case()
def a_failed_enqueue_never_comes() -> str:
    return ops("0 invoke enqueue 1\n0 fail enqueue 1", DRAINED)


@case(REFUSED, refused_but_delivered__refused=1)
def a_failed_enqueue_comes() -> str:
    """Jepsen: what failed did certainly not happen."""
    return ops("0 invoke enqueue 1\n0 fail enqueue 1", taken(1), DRAINED)


def failed(error: str, f: str = "enqueue", value: str = "1") -> str:
    """One operation failed with this `:error`; the queue was empty then."""
    text = ops(sent(2) if f == "dequeue" else "", f"5 invoke {f} {value}\n5 fail {f} {value}")
    text = text.replace(":type :fail", f":type :fail, :error {error}")
    return text.rstrip("\n") + "\n"


def then(text: str, *lines: str) -> str:
    """More operations behind those of that text."""
    before = text.count("\n")
    rest = ops("\n".join(["0 info filler"] * before), *lines).splitlines()[before:]
    return text + "".join(f"{line}\n" for line in rest)


@case(revived=1)
def an_enqueue_failed_by_a_timeout_comes() -> str:
    """A client that gave up waiting cannot know. Only its word for that was wrong."""
    return then(failed(":timeout"), taken(1), DRAINED)


@case(revived=1)
def an_enqueue_failed_by_a_lost_connection_comes() -> str:
    return then(failed('"Connection closed by peer"'), taken(1), DRAINED)


@case(REFUSED, refused_but_delivered__refused=1)
def an_enqueue_that_could_not_connect_comes() -> str:
    """Nothing was sent, so nothing may come."""
    return then(failed(":connection-refused"), taken(1), DRAINED)


@case(loss_unknown__consumer_log=1)
def a_dequeue_failed_by_a_timeout_and_one_is_missing() -> str:
    """The message may have been taken, and its answer lost."""
    return then(failed(":timeout", "dequeue", "nil"), DRAINED)


@case(loss_unknown__consumer_log=1)
def a_dequeue_failed_with_the_value_timeout_and_one_is_missing() -> str:
    """As clients of rabbitmq/jepsen write it."""
    return then(ops(sent(2), "5 invoke dequeue\n5 fail dequeue :timeout"), DRAINED)


@case(DELIVERED, lost__none=1)
def a_dequeue_failed_as_empty_and_one_is_missing() -> str:
    return then(failed(":empty", "dequeue", "nil"), DRAINED)


@case(DELIVERED, lost__none=1)
def a_dequeue_failed_as_exhausted_and_one_is_missing() -> str:
    return then(ops(sent(2), "5 invoke dequeue\n5 fail dequeue :exhausted"), DRAINED)


@case(loss_unknown__consumer_log=1)
def a_dequeue_of_unknown_end_and_one_is_missing() -> str:
    return ops(sent(1), "1 invoke dequeue\n1 info dequeue", DRAINED)


@case(loss_unknown__consumer_log=1)
def a_dequeue_without_an_end_and_one_is_missing() -> str:
    return ops(sent(1), "1 invoke dequeue", DRAINED)


@case(revived=1, loss_unknown__consumer_log=1)
def an_unknown_enqueue_comes_and_a_confirmed_one_may_be_taken() -> str:
    unknown = "0 invoke enqueue 2\n0 info enqueue 2"
    return ops(sent(1), unknown, "1 invoke dequeue\n1 info dequeue", taken(2, process=3), DRAINED)


# --- processes -----------------------------------------------------------------------------------


@case(loss_unknown__consumer_log=1)
def a_process_dequeues_again_before_its_first_dequeue_ended() -> str:
    """One of the two never ended: it may have taken the absent message."""
    return ops(sent(1, 2), "1 invoke dequeue\n1 invoke dequeue\n1 ok dequeue 1", DRAINED)


@case(loss_unknown__consumer_log=1)
def a_crashed_process_is_used_again() -> str:
    return ops(sent(1, 2), "1 invoke dequeue\n1 info dequeue", taken(1), DRAINED)


@case(lost_indeterminate=1)
def a_crashed_publisher_is_used_again() -> str:
    return ops("0 invoke enqueue 1\n0 info enqueue 1", sent(2), taken(2), DRAINED)


@case(lost_indeterminate=1)
def a_publisher_goes_on_before_its_enqueue_ended() -> str:
    return ops("0 invoke enqueue 1", sent(2), taken(2), DRAINED)


@case(error="operation 1, :value: process 0 ends an enqueue of [1 17], and began one of 1")
def an_enqueue_ends_with_another_value_than_it_began_with() -> str:
    """Its client writes the offset to the value. What comes back as 1 was sent nevertheless."""
    return ops("0 invoke enqueue 1\n0 ok enqueue [1 17]", taken(1), DRAINED)


@case(error="operation 3, :value: process 0 ends an enqueue of 3, and began one of 2")
def an_enqueue_ends_as_another_one() -> str:
    return ops(sent(1), "0 invoke enqueue 2\n0 ok enqueue 3", taken(1, 2), DRAINED)


@case(loss_unknown__consumer_log=1)
def a_dequeue_ends_as_an_enqueue() -> str:
    return ops(sent(1), "1 invoke dequeue\n1 ok enqueue 2", taken(2, process=3), DRAINED)


@case(error="operation 0, :process: a is no number, so `enqueue` is no client's operation")
def processes_of_clients_have_names() -> str:
    """They are no nemesis: a nemesis enqueues nothing."""
    return ops('"a" invoke enqueue 1\n"a" ok enqueue 1', DRAINED)


@case(error="operation 1, :process: nil is no number")
def the_end_of_an_enqueue_has_no_process() -> str:
    return ops("0 invoke enqueue 1\nnil ok enqueue 1", DRAINED)


@case(error="operation 3, :process: :worker-1 is no number, so `drain` is no client's operation")
def a_drain_of_a_process_with_a_name() -> str:
    return ops(sent(1), ":worker-1 invoke drain\n:worker-1 ok drain [1]")


@case()
def a_nemesis_drains_a_node() -> str:
    """Of Kubernetes, say: it takes nothing from a queue."""
    return ops(sent(1), ":nemesis info drain\n:nemesis info drain", taken(1), DRAINED)


# --- drains --------------------------------------------------------------------------------------


@case(loss_unknown__consumer_log=1)
def a_drain_of_unknown_end_brings_two_of_three() -> str:
    return ops(sent(1, 2, 3), "1 invoke drain\n1 info drain [1 2]")


@case(UNEXPECTED, loss_unknown__consumer_log=1, unexpected__never_sent=1)
def a_drain_of_unknown_end_brings_what_was_never_sent() -> str:
    return ops(sent(1, 2), "1 invoke drain\n1 info drain [1 77]")


@case(loss_unknown__consumer_log=1)
def a_failed_drain_brings_one_of_two() -> str:
    """It took something, so it did not fail for sure: it may have taken more."""
    return ops(sent(1, 2), "1 invoke drain\n1 fail drain [1]", DRAINED)


@case(loss_unknown__drain=1)
def a_failed_drain_brings_nothing() -> str:
    return ops(sent(1), "1 invoke drain\n1 fail drain")


@case(DELIVERED, lost__none=1)
def a_failed_drain_is_repeated() -> str:
    return ops(sent(1), "1 invoke drain\n1 fail drain", DRAINED)


@case(loss_unknown__consumer_log=1)
def a_drain_crashes_and_another_one_is_empty() -> str:
    return ops(sent(1), "1 invoke drain\n1 info drain", DRAINED)


@case(DELIVERED, lost__none=1)
def two_processes_drain_at_once_and_one_is_missing() -> str:
    return ops(sent(1, 2, 3), "1 invoke drain\n2 invoke drain\n1 ok drain [1]\n2 ok drain [2]")


@case(loss_unknown__consumer_log=1)
def one_of_two_drains_crashes() -> str:
    return ops(sent(1, 2, 3), "1 invoke drain\n2 invoke drain\n1 ok drain [1]\n2 info drain [2]")


@case(loss_unknown__drain=1)
def an_enqueue_begins_while_the_queue_is_drained() -> str:
    return ops("1 invoke drain", sent(1), "1 ok drain []")


@case(DELIVERED, lost__none=1)
def a_drain_that_brings_nil_is_empty() -> str:
    return ops(sent(1), "1 invoke drain\n1 ok drain nil")


@case(duplicated__ambiguous=1)
def a_drain_brings_what_was_dequeued() -> str:
    """No acknowledgement is on record, so it may be a redelivery."""
    return ops(sent(1), taken(1), "9 invoke drain\n9 ok drain [1]")


@case(loss_unknown__drain=1)
def a_history_without_a_drain_misses_one() -> str:
    return ops(sent(1, 2), taken(1))


# --- batches and keys ----------------------------------------------------------------------------


@case(DELIVERED, lost__none=1)
def a_dequeue_brings_a_batch() -> str:
    return ops(sent(1, 2, 3), taken("[1 2]"), DRAINED)


@case()
def a_dequeue_brings_an_empty_batch() -> str:
    return ops(sent(1), taken("[1]", "[]"), DRAINED)


@case(UNEXPECTED, unexpected__never_sent=1)
def a_batch_has_what_was_never_sent() -> str:
    return ops(sent(1), taken("[1 5]"), DRAINED)


@case(DELIVERED, lost__none=1)
def values_are_vectors() -> str:
    return ops(sent("[1 2]", "[3 4]"), taken("[1 2]"), DRAINED)


@case(DELIVERED, lost__none=1)
def a_batch_of_vectors() -> str:
    return ops(sent("[1 2]", "[3 4]", "[5 6]"), taken("[[1 2] [3 4]]"), DRAINED)


def last_poll(value: str) -> str:
    """A lease queue's: batches, and a mark of the polls at the end."""
    text = ops(sent(0, 1, 2), taken("[0 1]"), taken(value))
    return text.replace(":f :dequeue, :value nil", ":f :dequeue, :value nil, :drain? true")


@case(DELIVERED, lost__none=1)
def the_last_of_polls_that_drain_is_empty() -> str:
    return last_poll("[]")


@case(loss_unknown__drain=1)
def the_last_of_polls_that_drain_brings_something() -> str:
    return last_poll("[1]").replace("[0 1]", "[0]")


@case(error="operation 5, :value: a drain of [0 [5 6]]: this history has several queues")
def a_drain_of_one_key_of_several() -> str:
    """jepsen.independent: a key before each value. A loss of one key is none of another's."""
    return ops(sent("[0 5]", "[1 5]"), "1 invoke drain [0 nil]\n1 ok drain [0 [5 6]]")


@case(error="operation 3, :value: a dequeue of the word :empty, which was never enqueued")
def a_dequeue_of_nothing_ends_well() -> str:
    """Nothing was invented."""
    return ops(sent(1), taken(":empty"), DRAINED)


@case()
def keywords_are_messages() -> str:
    return ops(sent(":a", ":b"), taken(":a", ":b"), DRAINED)


@case(error="operation 3, :value: a drain of nil among others")
def a_drain_brings_nil_among_others() -> str:
    return ops(sent(1), "9 invoke drain\n9 ok drain [1 nil]")


@case(error="operation 5, :value: a drain of [1 2]; write its elements")
def a_drain_brings_batches() -> str:
    return ops(sent(1, 2), "9 invoke drain\n9 ok drain [[1 2]]")


@case(error="operation 1, :value: process 0 ends an enqueue of [1 :timeout]")
def an_unknown_end_has_another_value() -> str:
    return ops("0 invoke enqueue 1\n0 info enqueue [1 :timeout]", DRAINED)


@case()
def a_dequeue_ends_after_a_drain() -> str:
    return ops(sent(1, 2), "1 invoke dequeue\n9 invoke drain\n9 ok drain [2]\n1 ok dequeue 1")


@case(loss_unknown__drain=1)
def a_dequeue_ends_after_a_drain_and_one_is_missing() -> str:
    rest = "1 invoke dequeue\n9 invoke drain\n9 ok drain [2]\n1 ok dequeue 1"
    return ops(sent(1, 2, 3), rest)


@case()
def a_value_comes_before_its_confirm() -> str:
    early = "0 invoke enqueue 1\n1 invoke dequeue\n1 ok dequeue 1\n0 ok enqueue 1"
    return ops(early, DRAINED)


@case(DELIVERED, lost__none=1, duplicated__ambiguous=1)
def a_batch_has_one_value_twice_and_another_is_missing() -> str:
    return ops(sent(1, 2), taken("[1 1]"), DRAINED)


@case(loss_unknown__drain=1)
def an_enqueue_is_confirmed_after_the_drain() -> str:
    return ops("0 invoke enqueue 1", DRAINED, "0 ok enqueue 1")


# --- equal values --------------------------------------------------------------------------------


@case(COPY, attempt_lost__none=1)
def a_value_is_confirmed_twice_and_comes_once() -> str:
    """Total-queue counts by value: one of two was lost."""
    return ops(sent(1), sent(1, process=2), taken(1), DRAINED)


@case(duplicated__publisher_retry=1)
def a_value_is_confirmed_twice_and_comes_twice() -> str:
    return ops(sent(1), sent(1, process=2), taken(1, 1), DRAINED)


@case(duplicated__ambiguous=1, duplicated__publisher_retry=1)
def a_value_is_confirmed_twice_and_comes_three_times() -> str:
    return ops(sent(1), sent(1, process=2), taken(1, 1, 1), DRAINED)


@case()
def a_value_of_unknown_end_is_sent_again_and_comes_once() -> str:
    return ops("0 invoke enqueue 1\n0 info enqueue 1", sent(1, process=2), taken(1), DRAINED)


@case(duplicated__publisher_retry=1)
def a_value_of_unknown_end_comes_before_it_is_sent_again() -> str:
    """What came first cannot be the second attempt."""
    unknown = "0 invoke enqueue 1\n0 info enqueue 1"
    return ops(unknown, taken(1), sent(1, process=2), taken(1), DRAINED)


def after_a_retry() -> tuple[str, ...]:
    """A value of unknown end comes, and is sent again; the second attempt never comes."""
    unknown = "0 invoke enqueue 1\n0 info enqueue 1"
    return unknown, taken(1), sent(1, process=2), DRAINED


@case(COPY, attempt_lost__none=1)
def a_value_comes_before_it_is_sent_again_and_its_retry_is_gone() -> str:
    return ops(*after_a_retry())


@case(duplicated__ambiguous=1)
def a_failed_value_is_sent_again_and_comes_twice() -> str:
    """The failed one, or a redelivery."""
    return ops("0 invoke enqueue 1\n0 fail enqueue 1", sent(1, process=2), taken(1, 1), DRAINED)


@case(DELIVERED, lost__none=1)
def two_processes_enqueue_at_once_and_one_value_is_missing() -> str:
    both = "0 invoke enqueue 1\n2 invoke enqueue 2\n2 ok enqueue 2\n0 ok enqueue 1"
    return ops(both, taken(2), DRAINED)


# --- what was never enqueued, and texts ----------------------------------------------------------


@case(UNEXPECTED, unexpected__never_sent=1)
def a_dequeue_of_what_was_never_enqueued() -> str:
    return ops(sent(1), taken(1, 99), DRAINED)


@case()
def a_dequeue_before_its_enqueue_began() -> str:
    """Its times are impossible: nothing is proved."""
    return ops(taken(1), sent(1), DRAINED)


@case()
def numbers_come_back_as_their_digits() -> str:
    """The client reads texts: nothing was invented, nothing lost."""
    return ops(sent(1, 2), taken('"1"', '"2"'), DRAINED)


@case()
def numbers_come_back_as_floats() -> str:
    return ops(sent(1, -2), taken("1.0", "-2.0"), DRAINED)


@case(UNEXPECTED, unexpected__never_sent=1)
def a_number_comes_back_as_another_float() -> str:
    return ops(sent(1), taken(1, "1.5"), DRAINED)


@case(DELIVERED, lost__none=1)
def a_number_and_its_digits_are_two_messages() -> str:
    return ops(sent(1, '"1"'), taken(1), DRAINED)


@case(DELIVERED, lost__none=1)
def values_are_maps() -> str:
    return ops(sent("{:id 1}", "{:id 2}"), taken("{:id 1}"), DRAINED)


# --- parts of a history --------------------------------------------------------------------------


@case(unrecorded__never_sent=1)
def the_beginning_is_cut_off_and_an_enqueue_with_it() -> str:
    """`:index` begins at 2."""
    return without(ops(sent(1, 2), taken(1, 2), DRAINED), 0, 1)


@case()
def the_first_index_is_1() -> str:
    listed = ops(sent(1), taken(1), DRAINED).splitlines()
    return "".join(
        f"{line.split(', :index')[0]}, :index {number}}}\n"
        for number, line in enumerate(listed, 1)
    )


@case(DELIVERED, lost__none=1)
def what_a_drain_begins_with_was_not_drained() -> str:
    return ops(sent(1), "9 invoke drain [1]\n9 ok drain []")


@case()
def a_drain_brings_a_set() -> str:
    return ops(sent(1, 2), "9 invoke drain\n9 ok drain #{1 2}")


@case(unrecorded__never_sent=1)
def the_beginning_is_cut_off_without_indices() -> str:
    """The first operation is an end without its beginning."""
    text = ops(sent(1, 2), sent(3, process=4), taken(1, 2, 3), DRAINED)
    cut = without(text, 0, 1, 2)
    return "".join(f"{line.split(', :index')[0]}}}\n" for line in cut.splitlines())


@case(loss_unknown__consumer_log=1)
def a_dequeue_is_missing_in_the_middle() -> str:
    """Its two lines are gone: `:index` has a gap."""
    return without(ops(sent(1), taken(1), DRAINED), 2, 3)


@case(loss_unknown__drain=1)
def the_end_is_cut_off_before_the_drain() -> str:
    return without(ops(sent(1), DRAINED), 2, 3)


@case(loss_unknown__consumer_log=1)
def the_end_is_cut_off_within_the_drain() -> str:
    return without(ops(sent(1), DRAINED), 3)


@case(error="this is no EDN: line 4, column 1: what is opened here is never closed")
def the_end_is_cut_off_within_an_operation() -> str:
    return ops(sent(1), DRAINED)[:-30]


@case(error="operation 0, :type")
def the_type_of_an_operation_is_unknown() -> str:
    return ops("0 done enqueue 1")


@case(error="operation 2, :f: a queue has no operation 'peek'")
def an_operation_is_unknown() -> str:
    return ops(sent(1), "1 invoke peek\n1 ok peek 1", DRAINED)


# --- the nemesis ---------------------------------------------------------------------------------


@case(DELIVERED, lost__none=1)
def a_message_is_lost_under_a_nemesis_that_never_ends() -> str:
    return ops(sent(1), ":nemesis info start\n:nemesis info start", sent(2), taken(1), DRAINED)


@case()
def a_nemesis_ends_what_never_began() -> str:
    return ops(":nemesis info stop\n:nemesis info stop", sent(1), taken(1), DRAINED)


@case(duplicated__ambiguous=1)
def a_nemesis_says_once_that_it_began() -> str:
    return ops(sent(1), ":nemesis info kill", taken(1, 1), DRAINED)


@case()
def a_nemesis_alone_proves_nothing() -> str:
    return ops(":nemesis info start\n:nemesis info start")


# --- enough messages -----------------------------------------------------------------------------


def many(missing: int = 0) -> str:
    values = range(120)
    return ops(sent(*values), taken(*values[missing:]), DRAINED)


@case(passes=f"{DELIVERED} {UNEXPECTED} {ONE_COPY}")
def a_healthy_queue_with_120_messages() -> str:
    return many()


@case(DELIVERED, passes=f"{UNEXPECTED} {ONE_COPY}", lost__none=1)
def one_of_120_messages_is_missing() -> str:
    return many(1)


@case(passes=DELIVERED)
def a_healthy_queue_that_was_not_drained() -> str:
    """All came. The queue may hold more than was sent."""
    return without(many(), 480, 481)


@case()
def a_healthy_queue_whose_middle_is_cut_out() -> str:
    """Nothing passes: the file lacks a message, with its delivery."""
    return without(many(), 100, 101, 340, 341)


# --- OpenChaos -----------------------------------------------------------------------------------


_SENT = ("a enqueue > 1", "a enqueue SUCCESS 1")
_CAME = ("b dequeue >", "b dequeue SUCCESS 1")


@case(tool="openchaos")
def openchaos_sends_one_and_it_comes() -> str:
    return lines(*_SENT, *_CAME)


@case(tool="openchaos", loss_unknown__drain=1)
def openchaos_polls_nothing_and_one_is_missing() -> str:
    return lines(*_SENT, "b dequeue >", "b dequeue FAILURE")


@case(tool="openchaos", loss_unknown__consumer_log=1)
def openchaos_does_not_know_what_a_poll_brought() -> str:
    return lines(*_SENT, "b dequeue >", "b dequeue UNKNOWN")


@case(tool="openchaos", revived=1)
def openchaos_fails_to_send_and_it_comes() -> str:
    return lines("a enqueue > 1", "a enqueue FAILURE 1", *_CAME)


@case(UNEXPECTED, tool="openchaos", unexpected__never_sent=1)
def openchaos_polls_what_was_never_sent() -> str:
    return lines(*_SENT, *_CAME, "b dequeue >", "b dequeue SUCCESS 7")


@case(tool="openchaos", unrecorded__never_sent=1, loss_unknown__consumer_log=1)
def openchaos_begins_with_an_answer_to_no_request() -> str:
    """The beginning of the file is cut off."""
    return lines("a enqueue SUCCESS 0", *_SENT, *_CAME, "b dequeue >", "b dequeue SUCCESS 7")


@case(tool="openchaos", attempt_open__drain=1)
def openchaos_confirms_a_value_twice_and_it_comes_once() -> str:
    return lines(*_SENT, "c enqueue > 1", "c enqueue SUCCESS 1", *_CAME)


@case(tool="openchaos", error="line 3: 4 columns are no fault (4)")
def openchaos_is_cut_off_within_a_line() -> str:
    return lines(*_SENT, "b dequeue >")[:-18]


@case(tool="openchaos")
def openchaos_ends_a_fault_that_never_began() -> str:
    return "fault\tkill\tend\t900\n" + lines(*_SENT, *_CAME)


@case(tool="openchaos", duplicated__ambiguous=1)
def openchaos_begins_a_fault_twice_and_one_comes_twice() -> str:
    begun = "fault\tkill\tstart\t900\nfault\tkill\tstart\t901\n"
    return begun + lines(*_SENT, *_CAME, *_CAME)


@case(tool="openchaos", loss_unknown__consumer_log=1)
def openchaos_polls_again_before_the_first_poll_ended() -> str:
    both = (*_SENT, "a enqueue > 2", "a enqueue SUCCESS 2")
    return lines(*both, "b dequeue >", "b dequeue >", "b dequeue SUCCESS 2")


@case(tool="openchaos", attempt_open__drain=1)
def openchaos_ends_an_enqueue_twice() -> str:
    """Perhaps a second copy was confirmed. Nothing is proved."""
    return lines(_SENT[0], _SENT[1], _SENT[1], *_CAME)


@pytest.mark.parametrize("one", [it for it in CASES if not it.error], ids=str)
def test_a_foreign_history_by_hand_is_judged_as_argued(one: ForeignCase) -> None:
    assert [*one.differences()] == []


@pytest.mark.parametrize("one", [it for it in CASES if it.error], ids=str)
def test_a_foreign_history_by_hand_is_refused_with_its_place(one: ForeignCase) -> None:
    with pytest.raises(PlanError) as found:
        one.history()
    assert one.error in str(found.value)


def test_policies_of_queues_can_be_declared() -> None:
    said = of_words(["drops=true", "deduplicates=false"], WORDS.declared)
    assert said == {"drops": True, "deduplicates": False}


def test_a_loss_in_a_queue_that_drops_messages_proves_nothing() -> None:
    one = next(it for it in CASES if str(it) == "one_of_120_messages_is_missing")
    dropping = declaring(one.history(), {"drops": True}, "h")
    (claim,) = (it for it in shipped() if it.name == DELIVERED)
    assert judge(claim, evidence(dropping, "h")).outcome is ClaimOutcome.INCONCLUSIVE
