"""Files of Jepsen and OpenChaos as strangers write them: crashed processes, drains of several
clients, late completions, clocks that differ, parts of a run. What must be said follows from
harness/histories/README.md and docs/verdicts.md 14."""

import re
from collections.abc import Callable

import pytest

from harness.plan.problems import PlanError
from tests.rigs.histories.claim_names import COPY, DELIVERED, ONE_COPY, UNEXPECTED
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
ALL = f"{DELIVERED} {UNEXPECTED} {ONE_COPY}"


# --- processes that crash, and those that take their place ---------------------------------------


@case(loss_unknown__consumer_log=1)
def a_process_crashes_and_its_successor_drains() -> str:
    crash = "1 invoke dequeue\n1 info dequeue nil"
    return ops(sent(1, 2, 3), crash, taken(1, process=6), "6 invoke drain\n6 ok drain [3]")


@case(revived=2)
def a_publisher_crashes_and_all_that_it_sent_comes() -> str:
    crashes = "0 invoke enqueue 1\n0 info enqueue 1\n5 invoke enqueue 2\n5 info enqueue 2"
    return ops(crashes, taken(2, 1), DRAINED)


@case(lost_indeterminate=2)
def a_publisher_crashes_and_nothing_of_it_comes() -> str:
    crashes = "0 invoke enqueue 1\n0 info enqueue 1\n5 invoke enqueue 2\n5 info enqueue 2"
    return ops(crashes, DRAINED)


@case(DELIVERED, lost__none=1, lost_indeterminate=1)
def an_enqueue_hangs_to_the_end_and_a_confirmed_value_is_gone() -> str:
    """What hangs can put one more into the queue. It takes none out."""
    return ops("7 invoke enqueue 9", sent(1, 2), taken(1), DRAINED)


@case(revived=1)
def an_enqueue_hangs_to_the_end_and_the_drain_brings_it() -> str:
    return ops("7 invoke enqueue 9", sent(1), taken(1), "9 invoke drain\n9 ok drain [9]")


@case(loss_unknown__consumer_log=1)
def a_dequeue_hangs_to_the_end_and_a_confirmed_value_is_gone() -> str:
    return ops("7 invoke dequeue", sent(1, 2), taken(1), DRAINED)


CRASHED = "1 invoke dequeue\n1 info dequeue nil"


@case(DELIVERED, loss_unknown__consumer_log=2)
def one_dequeue_crashes_and_two_values_are_gone() -> str:
    """It can have taken one of them."""
    return ops(sent(1, 2, 3), CRASHED, taken(3, process=6), DRAINED)


@case(loss_unknown__consumer_log=2)
def two_dequeues_have_no_known_end_and_two_values_are_gone() -> str:
    return ops(sent(1, 2, 3), CRASHED, "7 invoke dequeue", taken(3, process=6), DRAINED)


@case(DELIVERED, loss_unknown__consumer_log=2)
def a_dequeue_times_out_as_failed_and_two_values_are_gone() -> str:
    return ops(sent(1, 2, 3), "1 invoke dequeue\n1 fail dequeue :timeout", taken(3), DRAINED)


@case(loss_unknown__consumer_log=2)
def a_dequeue_of_batches_crashes_and_two_values_are_gone() -> str:
    """It can have taken both."""
    return ops(sent(1, 2, 3), CRASHED, taken("[3]", process=6), DRAINED)


@case(loss_unknown__consumer_log=2)
def a_dequeue_and_a_drain_crash_and_two_values_are_gone() -> str:
    crash = "7 invoke drain\n7 info drain nil"
    return ops(sent(1, 2, 3), CRASHED, crash, taken(3, process=6), DRAINED)


@case(loss_unknown__consumer_log=2)
def a_dequeue_crashes_and_two_values_are_gone_without_a_drain() -> str:
    return ops(sent(1, 2, 3), CRASHED, taken(3, process=6))


# --- drains of several clients -------------------------------------------------------------------


@case()
def each_client_drains_and_the_first_gets_all() -> str:
    return ops(
        sent(1, 2), "1 invoke drain\n1 ok drain [1 2]", DRAINED, "0 invoke drain\n0 ok drain []"
    )


@case(duplicated__ambiguous=1)
def two_drains_bring_the_same_value() -> str:
    return ops(sent(1, 2), "1 invoke drain\n1 ok drain [1 2]", "2 invoke drain\n2 ok drain [2]")


@case(duplicated__ambiguous=2)
def one_drain_brings_a_value_three_times() -> str:
    return ops(sent(1, 2), "1 invoke drain\n1 ok drain [1 2 1 1]")


@case(DELIVERED, duplicated__ambiguous=1, lost__none=1)
def a_drain_brings_one_twice_and_misses_another() -> str:
    """The number of messages is right."""
    return ops(sent(1, 2), "1 invoke drain\n1 ok drain [1 1]")


@case(loss_unknown__drain=1)
def a_client_dequeues_after_the_drain_and_one_is_missing() -> str:
    return ops(sent(1, 2), "9 invoke drain\n9 ok drain []", taken(2))


@case(DELIVERED, lost__none=1)
def a_client_dequeues_after_the_drain_and_all_drain_again() -> str:
    return ops(sent(1, 2), DRAINED, taken(2), "1 invoke drain\n1 ok drain []")


@case(loss_unknown__consumer_log=1)
def the_last_of_three_drains_crashes() -> str:
    return ops(sent(1), DRAINED, "1 invoke drain\n1 ok drain []\n2 invoke drain\n2 info drain nil")


@case(UNEXPECTED, unexpected__never_sent=2)
def a_drain_brings_two_values_that_were_never_sent() -> str:
    return ops(sent(1), "9 invoke drain\n9 ok drain [1 31 32]")


# --- completions that come late ------------------------------------------------------------------


def healthy(first: str = "", last: str = "", missing: int | None = None) -> str:
    """120 values are sent and taken in turn, between operations of other processes."""
    each = (
        f"{sent(value)}\n" + ("" if value == missing else taken(value)) for value in range(120)
    )
    return ops(first, *each, last, DRAINED)


@case(passes=ALL)
def an_enqueue_is_confirmed_at_the_very_end() -> str:
    return healthy("4 invoke enqueue 900\n5 invoke dequeue\n5 ok dequeue 900", "4 ok enqueue 900")


@case(DELIVERED, passes=f"{UNEXPECTED} {ONE_COPY}", lost__none=1)
def an_enqueue_is_confirmed_at_the_very_end_and_its_value_is_gone() -> str:
    return healthy("4 invoke enqueue 900", "4 ok enqueue 900")


@case(passes=DELIVERED)
def an_enqueue_is_confirmed_after_the_drain_that_brought_it() -> str:
    """Each confirmed value came. That the queue was empty then is not shown."""
    text = healthy("4 invoke enqueue 900", "4 ok enqueue 900").splitlines(keepends=True)
    late = next(place for place, line in enumerate(text) if ":ok, :f :enqueue, :value 900" in line)
    order = [*text[:late], *text[late + 1 :], text[late]]
    numbered = "".join(renumbered(line, place) for place, line in enumerate(order))
    return numbered.replace(":f :drain, :value []", ":f :drain, :value [900]")


def renumbered(line: str, number: int) -> str:
    body = line.split(", :time")[0]
    return f"{body}, :time {number * 10_000_000}, :index {number}}}\n"


@case(passes=ALL, lost_indeterminate=1)
def an_enqueue_never_ends_and_never_comes() -> str:
    return healthy("4 invoke enqueue 900")


@case(passes=f"{DELIVERED} {UNEXPECTED}", revived=1, duplicated__ambiguous=1)
def an_enqueue_never_ends_and_comes_twice() -> str:
    """A second copy, or the same one again: no record says."""
    text = healthy("4 invoke enqueue 900\n5 invoke dequeue\n5 ok dequeue 900")
    return text.replace(":f :drain, :value []", ":f :drain, :value [900]")


# --- clocks of processes -------------------------------------------------------------------------


def shifted(text: str, process: int, by_ms: int) -> str:
    """The clock of this process is ahead by so much."""

    def moved(found: re.Match[str]) -> str:
        return f":time {int(found[1]) + by_ms * 1_000_000}"

    return "".join(
        re.sub(r":time (-?\d+)", moved, line) if f":process {process}," in line else line
        for line in text.splitlines(keepends=True)
    )


@case()
def a_consumers_clock_is_behind_and_all_comes_before_it_was_sent() -> str:
    """Impossible times prove nothing, and let nothing pass."""
    return shifted(healthy(), 1, -50)


@case(DELIVERED, lost__none=1)
def a_consumers_clock_is_behind_and_one_is_lost() -> str:
    """No clock brings it back."""
    return shifted(healthy(missing=60), 1, -50)


@case(passes=ALL)
def a_consumers_clock_is_ahead_by_an_hour() -> str:
    return shifted(healthy(), 1, 3_600_000)


@case(passes=ALL)
def the_clock_of_the_drain_is_behind_by_an_hour() -> str:
    """The order of the file says when it began."""
    return shifted(healthy(), 9, -3_600_000)


@case(DELIVERED, passes=f"{UNEXPECTED} {ONE_COPY}", lost__none=1)
def the_clock_of_the_drain_is_behind_and_one_is_lost() -> str:
    return shifted(healthy(missing=60), 9, -3_600_000)


@case(error="process 1: dequeue invoke at")
def the_clock_of_one_process_jumps_back() -> str:
    text = healthy().splitlines(keepends=True)
    return "".join([*text[:200], *(shifted(line, 1, -500) for line in text[200:])])


# --- operations and forms ------------------------------------------------------------------------


@case(error="operation 2, :f: a queue has no operation 'poll'")
def a_client_of_logs_polls() -> str:
    return ops(sent(1), "1 invoke poll\n1 ok poll [[0 1]]")


@case(error="operation 4, :f: a queue has no operation 'crash'")
def a_client_is_to_crash() -> str:
    return ops(sent(1), taken(1), "3 invoke crash\n3 info crash")


@case(passes=ALL)
def a_nemesis_has_words_of_its_own() -> str:
    isolated = '[:isolated {"n1" #{"n2" "n3"}}]'
    nemesis = f":nemesis info start-partition nil\n:nemesis info start-partition {isolated}"
    return healthy(nemesis, ":nemesis info stop-partition\n:nemesis info stop-partition")


@case(passes=ALL)
def operations_are_records_with_tags() -> str:
    return "".join(f"#jepsen.history.Op{line}\n" for line in healthy().splitlines())


@case(passes=ALL)
def operations_stand_in_a_list_with_comments() -> str:
    return f";; made by jepsen 0.3\n({healthy()})\n"


@case(passes=ALL)
def no_operation_has_an_index() -> str:
    return re.sub(r", :index \d+", "", healthy())


@case()
def two_runs_stand_in_one_file() -> str:
    """`:index` begins again at its first number: nothing is known of what lies between."""
    second = re.sub(r":value (\d+)", lambda it: f":value {int(it[1]) + 500}", healthy())
    later = re.sub(r":time (\d+)", lambda it: f":time {int(it[1]) + 10**12}", second)
    return healthy() + later


@case(loss_unknown__consumer_log=1)
def one_line_is_twice_in_the_file_and_a_value_is_missing() -> str:
    text = ops(sent(1, 2), taken(1), DRAINED).splitlines(keepends=True)
    return "".join([*text[:5], text[4], *text[5:]])


@case(loss_unknown__consumer_log=1)
def the_middle_is_cut_out_and_a_value_is_missing() -> str:
    return without(healthy(missing=60), *range(100, 120))


# --- equal values --------------------------------------------------------------------------------


@case(COPY, attempt_lost__none=2)
def a_value_is_confirmed_three_times_and_comes_once() -> str:
    return ops(sent(1), sent(1, process=2), sent(1, process=3), taken(1), DRAINED)


@case(attempt_open__consumer_log=1)
def a_value_is_confirmed_twice_and_comes_once_and_a_dequeue_crashed() -> str:
    crash = "4 invoke dequeue\n4 info dequeue nil"
    return ops(sent(1), sent(1, process=2), taken(1), crash, DRAINED)


# --- OpenChaos -----------------------------------------------------------------------------------

_TWO = ("a enqueue > 1", "a enqueue SUCCESS 1", "a enqueue > 2", "a enqueue SUCCESS 2")


@case(tool="openchaos", loss_unknown__drain=1)
def openchaos_begins_within_a_fault_and_one_is_missing() -> str:
    return lines(*_TWO, "b dequeue >", "b dequeue SUCCESS 2") + "fault\tkill\tend\t1100\n"


@case(tool="openchaos", loss_unknown__drain=1)
def openchaos_ends_within_the_second_of_two_faults() -> str:
    faults = "fault\tkill\tstart\t900\nfault\tkill\tend\t950\nfault\tloss\tstart\t960\n"
    return faults + lines(*_TWO, "b dequeue >", "b dequeue SUCCESS 1")


@case(tool="openchaos", revived=1, duplicated__ambiguous=1)
def openchaos_fails_to_send_and_it_comes_twice() -> str:
    come = ("b dequeue >", "b dequeue SUCCESS 1")
    return lines("a enqueue > 1", "a enqueue FAILURE 1", *come, *come)


@case(tool="openchaos", duplicated__publisher_retry=1)
def openchaos_sends_again_after_an_unknown_answer_and_both_come() -> str:
    again = ("a enqueue > 1", "a enqueue UNKNOWN 1", "a enqueue > 1", "a enqueue SUCCESS 1")
    return lines(*again, *("b dequeue >", "b dequeue SUCCESS 1") * 2)


@case(tool="openchaos", error="line 2: a queue has no operation 'put'")
def openchaos_has_an_operation_of_another_model() -> str:
    return lines("a enqueue > 1", "a put SUCCESS 1")


@case(tool="openchaos")
def openchaos_has_clocks_of_two_machines() -> str:
    """The consumer's is a minute behind: it got 1 before it was sent."""
    text = lines(*_TWO, "b dequeue >", "b dequeue SUCCESS 1", "b dequeue >", "b dequeue SUCCESS 2")
    early: Callable[[re.Match[str]], str] = lambda it: str(int(it[0]) - 500)  # noqa: E731
    return "".join(
        re.sub(r"\b10\d\d\b", early, line) if line.startswith("b") else line
        for line in text.splitlines(keepends=True)
    )


@pytest.mark.parametrize("one", [it for it in CASES if not it.error], ids=str)
def test_a_file_of_others_is_judged_as_argued(one: ForeignCase) -> None:
    assert [*one.differences()] == []


@pytest.mark.parametrize("one", [it for it in CASES if it.error], ids=str)
def test_a_file_of_others_is_refused_with_its_place(one: ForeignCase) -> None:
    with pytest.raises(PlanError) as found:
        one.history()
    assert one.error in str(found.value)
