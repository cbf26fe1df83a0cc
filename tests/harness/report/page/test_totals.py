"""Runs counted together: sums, bounds, and what of it is proved."""

from dataclasses import replace

import pytest

from harness.claims.judge import ClaimOutcome
from harness.compare.expectations import CellResult, Deviation, Known, Standing
from harness.judging.result import RunReport
from harness.report.page.answers import first_screen
from harness.report.page.cells import cells
from harness.report.page.measures import applicable, telling
from harness.report.page.outs import (
    LONGER,
    SHORTER,
    backlog_text,
    compared_text,
    fault_text,
    late_text,
    out_text,
    spell_text,
)
from harness.report.page.totals import RunTotals, median_text
from harness.view.timeline import FaultSpan, Verification
from spark_analysis.schema import service as words
from spark_analysis.schema.facts import ConsumerGroup, GroupQueue
from spark_analysis.schema.service import Outage
from spark_analysis.schema.words import RecoveredBy
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import summed
from tests.rigs.runs.reports import CELL, OTHER, compared, report, run


def test_losses_are_summed_and_their_cells_are_named() -> None:
    summed_up = RunTotals(
        [
            summed(Story().count("lost", "stored", 3)),
            summed(Story().count("lost", "stored", 4), repeat=2),
            summed(Story(), cell=OTHER),
        ]
    )
    assert (summed_up.lost, summed_up.confirmed) == (7, 64_200)
    assert (summed_up.runs_with_loss, summed_up.cells_with_loss) == (2, (CELL,))
    assert (summed_up.runs, summed_up.judged, summed_up.loss_decided_runs, summed_up.cells) == (
        3,
        3,
        3,
        2,
    )


def test_outage_is_the_worst_windows_and_the_longest_runs() -> None:
    twice = Story().silence(0.2).window(2, "kill", opens=30).silence(9.0, window=2)
    summed_up = RunTotals(
        [summed(Story().silence(0.1)), summed(twice), summed(Story().silence(0.3))]
    )
    assert summed_up.silence is not None
    assert (summed_up.silence.median_s, summed_up.silence.maximum_s, summed_up.silence.runs) == (
        0.3,
        9.0,
        3,
    )


def test_unrecovered_run_does_not_lower_the_median() -> None:
    ends = [summed(Story().silence(number), repeat=number) for number in range(1, 10)]
    summed_up = RunTotals([*ends, summed(Story().silence(2.5, censored=True), repeat=10)])
    assert summed_up.silence is not None
    # Taken for a time of 2.5 s it would make the median 4.5 s.
    assert (summed_up.silence.median_s, summed_up.silence.median_reached) == (5, True)
    assert median_text(summed_up.silence).replace("\u00a0", " ") == "5.00 s (2.00 s to 8.00 s)"
    few = RunTotals([summed(Story().silence(2.0))]).silence
    assert few is not None
    assert median_text(few).replace("\u00a0", " ") == "2.00 s"


def test_one_endless_silence_makes_the_longest_a_bound() -> None:
    summed_up = RunTotals([summed(Story()), summed(Story().silence(33.0, censored=True))])
    assert summed_up.silence is not None and summed_up.silence.bound
    assert summed_up.outage_decided_runs == 2


def test_shorter_endless_silence_also_makes_the_longest_a_bound() -> None:
    """It may in truth be the longest."""
    twice = Story().silence(9.0).window(2, "kill", opens=30).silence(4.0, censored=True, window=2)
    summed_up = RunTotals([summed(twice)])
    assert summed_up.silence is not None
    assert (summed_up.silence.maximum_s, summed_up.silence.bound) == (9.0, True)


def test_run_without_outage_data_is_not_counted_with_the_others() -> None:
    stalled = Story().silence(0.1).doubt("availability", "stalled", window=1, worker=1)
    summed_up = RunTotals([summed(Story()), summed(stalled)])
    assert summed_up.silence is not None and summed_up.silence.runs == 1
    assert (summed_up.outage_decided_runs, summed_up.loss_decided_runs) == (1, 2)
    assert summed_up.doubts == (
        ("publisher 1 stalled 140 ms, 0.3 s after the fault began (host busy)", 1),
    )


def test_claims_are_listed_in_file_order() -> None:
    summed_up = RunTotals([summed(Story()), summed(Story().count("lost", "stored", 3))])
    assert [(one.verdict.claim, one.runs) for one in summed_up.failed] == [
        ("confirmed-stays", 1),
        ("never-silent", 2),
    ]
    assert (summed_up.held, summed_up.undecided, summed_up.outcome) == (1, 0, ClaimOutcome.FAIL)


def test_runs_that_were_not_judged_are_counted_and_say_why() -> None:
    summed_up = RunTotals([run(Story(), verdicts=(), failure="no cluster"), summed(Story())])
    assert (summed_up.runs, summed_up.judged) == (2, 1)
    assert summed_up.doubts == (("no cluster", 1),)


def test_losses_are_counted_for_each_consumer_group() -> None:
    story = Story()
    groups = (ConsumerGroup(one, (GroupQueue(f"orders-{one}", "orders"),), ()) for one in "ab")
    story.facts = replace(story.facts, consumer_groups=tuple(groups))
    (view,) = cells(report(summed(story)))
    assert view.sentence.startswith("None of 21,400 confirmed messages × 2 groups was lost. ")
    assert RunTotals([summed(story), summed(Story())]).for_groups("9") == "9 × 1 or 2 groups"


def test_totals_of_no_run_are_unknown() -> None:
    summed_up = RunTotals([])
    assert (summed_up.outcome, summed_up.silence, summed_up.confirmed) == (None, None, 0)


def test_a_recovery_time_that_excludes_nothing_is_unknown() -> None:
    """Not "again after at least 0.001 s", also where another fault's time is exact."""
    short = Story().stage("sustained_success", 0.0006, recovered_by=RecoveredBy.EITHER)
    twice = short.window(2, "kill", opens=30).stage("sustained_success", 0.0002, window=2)
    twice.outage(31, 33)
    (view,) = cells(report(summed(twice)))
    assert view.totals.degraded is None
    assert "again after" not in view.sentence
    expected = "recovery time unknown: sending stayed on time, but perhaps only because"
    assert expected in view.sentence


def test_sending_that_never_recovered_is_not_called_on_time_again() -> None:
    late = Story().stage("sustained_success", 14.0, reached=False).outage(12, 26, words.NEVER)
    (view,) = cells(report(summed(late)))
    sentence = view.sentence.replace("\u00a0", " ")
    assert "sending was not on time again for at least 14.0 s" in sentence
    assert "on time again after" not in sentence


def ended_fault(*, at_ns: int, ok: bool = True) -> FaultSpan:
    gone = Verification(at_ns, ok, "the process runs and answers")
    return FaultSpan(
        number=1,
        kind="kill",
        target="master of orders",
        resolved="ref1",
        role="",
        mechanism="container",
        requested_from_ns=1_000_000_000,
        requested_until_ns=2_000_000_000,
        issued_ns=1_000_000_000,
        returned_ns=1_100_000_000,
        ended_ns=2_000_000_000,
        held=None,
        gone=gone,
        verified=True,
        doubt="",
        stages=(),
        stages_doubt="",
    )


def test_an_outage_that_began_before_the_fault_says_so() -> None:
    outage = Outage("run", words.RUN, "", 4_000_000_000, 7_000_000_000, words.UNDO, 600, 245, "1")
    fault = replace(ended_fault(at_ns=9_000_000_000), issued_ns=6_200_000_000)
    text = spell_text(outage, [fault]).replace("\u00a0", " ")
    assert text.startswith("outage: ≥ 3.00 s, from 2.2 s before the fault began (+4.0 s); ")
    alone = spell_text(outage).replace("\u00a0", " ")
    assert alone.startswith("outage: ≥ 3.00 s, from +4.0 s; ")
    two = spell_text(outage, [fault, replace(fault, issued_ns=1_000_000_000)])
    assert "from 3.0 s after the first fault began (+4.0 s)" in two.replace("\u00a0", " ")


def test_an_outage_within_the_time_to_reconnect_says_so() -> None:
    alone = Outage("run", words.RUN, "", 4_000_000_000, 7_000_000_000, words.SYSTEM, 600, 245, "")
    fault = replace(ended_fault(at_ns=2_400_000_000), healed_from_ns=7_100_000_000)
    assert spell_text(alone, [fault]).endswith(
        "; the outage lies within the time that clients have to reconnect (until +7.1 s), so "
        "claims about service after the fault do not count it"
    )
    for other in (
        replace(fault, healed_from_ns=6_900_000_000),  # it lasted longer
        replace(fault, healed_from_ns=None),
        replace(fault, ended_ns=5_000_000_000),  # it began during the fault
    ):
        assert "reconnect" not in spell_text(alone, [other])


def test_several_runs_report_the_largest_backlog() -> None:
    story = Story().stage("backlog_drained", 48, reached=False)
    runs = [summed(story, repeat=number) for number in (1, 2)]
    assert all(one.summary is not None and one.summary.backlog_left for one in runs)

    def text(*numbers: int | None) -> str:
        waits = zip(runs, numbers, strict=True)
        changed = ((one, one.summary, number) for one, number in waits)
        made = [replace(o, summary=replace(s, waiting=n)) for o, s, n in changed if s is not None]
        return backlog_text(RunTotals([*made, summed(Story(), repeat=3)]))

    start = "when the load ended in 2 of 3 runs, consumers had not received "
    assert text(7, 231) == f"{start}up to 231 confirmed messages (backlog)"
    assert text(7, None) == f"{start}all confirmed messages (backlog)"
    assert backlog_text(RunTotals([summed(Story())])) == ""


def test_outage_under_no_fault_mentions_no_undo_of_its_own() -> None:
    alone = Outage("run", words.RUN, "", 4_000_000_000, 7_000_000_000, words.SYSTEM, 600, 245, "")
    assert "; no fault was active; 245 of 600 messages due were late" in spell_text(alone)
    fault = ended_fault(at_ns=2_400_000_000)
    before = "; no fault was active: the fault had been undone 2.00 s before, "
    before += "verified ended 1.60 s before; 245 of"
    assert before in spell_text(alone, [fault]).replace("\u00a0", " ")
    later = replace(fault, ended_ns=5_000_000_000)
    assert "; no fault was active; 245 of" in spell_text(alone, [later])
    by_itself = "; clients or brokers recovered by themselves, not by the undo of the fault; 245"
    assert by_itself in spell_text(replace(alone, windows="1"))


def test_fault_is_given_from_its_begin_to_its_end() -> None:
    fault = ended_fault(at_ns=2_400_000_000)
    undone = "kill ref1, undone after 1.0 s, verified ended after 1.4 s"
    assert fault_text("kill ref1", fault, [fault]).replace("\u00a0", " ") == undone
    later = replace(fault, issued_ns=2_500_000_000, ended_ns=None, gone=None)
    assert fault_text("kill ref1", later, [fault, later]).replace("\u00a0", " ") == (
        "kill ref1, 1.5 s after the first fault began, never undone"
    )


def late(story: Story) -> str:
    totals = RunTotals([summed(story)])
    totals.spans = (ended_fault(at_ns=2_400_000_000),)
    return late_text(totals).replace("\u00a0", " ")


def test_late_messages_in_outages_are_counted_among_all() -> None:
    every = "12 of 4,500 messages due from the first fault on were late (0.3 %)"
    one = Story().missed(12).outage(40, 43, bad=9, windows="")
    ended = "from 39.0 s after the fault began (no fault was active: the fault had been undone "
    assert (
        late(one)
        == f"{every}, 9 of them in the outage, {ended}38.0 s before, verified ended 37.6 s before)"
    )
    under = late(Story().missed(12).outage(1.01, 2, bad=12))
    assert under == f"{every}, all of them in the outage, from the beginning of the fault"
    twice = Story().missed(12).outage(40, 43, bad=5).outage(44, 45, bad=4)
    assert ", 9 of them in the 2 outages, the first from 39.0 s after" in late(twice)
    assert late(Story().missed(12).outage(0.5, 2, bad=9)) == every, "some were due before"


def test_longer_outage_says_that_others_were_confirmed() -> None:
    totals = RunTotals([summed(Story().outage(12, 15).silence(0.2))])
    assert compared_text(totals) == LONGER
    short = RunTotals([summed(Story().outage(12, 15).outage(20, 23).silence(3.1))])
    assert compared_text(short) == "", "the sum of both is longer, neither outage is"


def test_without_downtime_there_is_no_recovery_time() -> None:
    short = Story().stage("sustained_success", 0.0006, recovered_by=RecoveredBy.EITHER)
    (view,) = cells(report(summed(short)))
    assert view.totals.degraded_doubt
    assert "Publishers saw no downtime" in view.sentence
    assert "recovery time" not in view.sentence


def test_without_downtime_sending_is_not_on_time_again() -> None:
    quick = Story().stage("sustained_success", 0.005)
    (view,) = cells(report(summed(quick)))
    assert "Publishers saw no downtime" in view.sentence
    assert "on time again" not in view.sentence


def test_sending_is_not_on_time_again_before_the_first_confirm() -> None:
    """Messages that were due earlier may be confirmed in time, by a confirm that comes later."""
    story = Story().stage("sustained_success", 0.003).outage(12.003, 13.3).silence(1.283)
    (view,) = cells(report(summed(story)))
    assert "longest time without a confirm was 1.28" in view.sentence
    assert "on time again" not in view.sentence


def test_a_silence_longer_than_the_downtime_is_explained() -> None:
    (view,) = cells(report(summed(Story().outage(12.0, 13.0).silence(2.0))))
    said = "the longest time without a confirm was 2.00\u00a0s. " + SHORTER
    assert said in view.sentence
    assert view.sentence.count(SHORTER) == 1
    (bound,) = cells(report(summed(Story().outage(12.0, 13.0, words.UNDO).silence(2.0))))
    assert SHORTER not in bound.sentence  # the downtime may be longer
    assert "1.00\u00a0s: 800 of 900 messages due then were late;" in view.sentence


@pytest.mark.parametrize(
    ("known", "shown"),
    [
        ({}, "no expectation is recorded"),
        (
            {"one-copy": Known((ClaimOutcome.PASS,))},
            "1 of 3 claims has no recorded expectation (the badge does not depend on it)",
        ),
    ],
)
def test_a_cell_that_is_known_in_part_says_how_much_is_not(
    known: dict[str, Known], shown: str
) -> None:
    whole = report(summed(Story()))
    cell = CellResult(
        whole.runs[0].cell, Standing.NEW, (Deviation("a", "PASS, and no entry …"),), known
    )
    (view,) = cells(replace(whole, cells=(cell,)))
    assert view.standing == shown


def test_a_cell_that_differs_says_in_how_many_claims() -> None:
    whole = report(summed(Story()))
    found = (
        Deviation("a", "PASS, expected FAIL"),
        Deviation("b", "INCONCLUSIVE, expected PASS"),
        Deviation("c", "PASS, no expectation …"),
    )
    cell = CellResult(whole.runs[0].cell, Standing.DIFFERS, found, {}, frozenset({"a"}))
    (view,) = cells(replace(whole, cells=(cell,)))
    assert view.standing == "1 claim differs from the expectation"
    assert view.differences == tuple(map(str, found))


def test_open_warnings_count_as_undecided_claims_but_keep_no_promise_open() -> None:
    run = summed(Story())
    promise = next(one for one in run.verdicts if one.is_promise and one.outcome == "PASS")
    warning = replace(promise, claim="harm", outcome=ClaimOutcome.INCONCLUSIVE, warns=True)
    run = replace(run, verdicts=(promise, warning))
    (view,) = cells(report(run))
    assert (view.totals.undecided, view.totals.open_claims) == (0, 1)
    assert "1 promise kept; 1 warning not decided." in view.sentence
    assert RunTotals((run,)).open_text == "1 warning not decided"


def test_unknown_recovery_makes_the_longest_of_a_run_a_bound() -> None:
    short = Story().stage("sustained_success", 0.0006, recovered_by=RecoveredBy.EITHER)
    twice = short.window(2, "kill", opens=30).stage("sustained_success", 4.0, window=2)
    totals = RunTotals([summed(twice)])
    assert totals.degraded is not None and totals.degraded_doubt == ""
    assert (totals.degraded.maximum_s, totals.degraded.bound) == (4.0, True)


def test_a_fault_without_late_messages_bounds_no_recovery_time() -> None:
    story = Story().stage("sustained_success", 0.001, reached=False)
    story.window(2, "kill", opens=30).stage("sustained_success", 4.0, window=2)
    late = summed(story)
    on_time = summed(story.missed(0))
    for own, bounds in ((late, 1), (on_time, 0)):
        degraded = RunTotals([own]).degraded
        assert degraded is not None
        assert (degraded.maximum_s, degraded.bound) == (4.0, bool(bounds))
        row = compared(own.cell, "degraded", 4e9, maximum=4e9, runs=1, judged=1, bounds=1)
        (shown,) = applicable(report(own, comparison=(row,)))
        assert shown.bounds == bounds
        other = replace(row, maximum=5e9)  # of another number nothing is known
        assert [one.bounds for one in applicable(report(own, comparison=(other,)))] == [1]


def test_verified_faults_and_complete_logs_are_apart_from_what_is_decided() -> None:
    def tile(*found: RunReport) -> tuple[str, str]:
        answer = first_screen(report(*found), RunTotals(found)).answers[3]
        assert answer.question == "Faults verified, logs complete?"
        return answer.value, answer.tone

    full, open_loss = summed(Story()), summed(Story().count("loss_unknown", "drain", 3))
    assert full.summary is not None
    cut = replace(full, summary=replace(full.summary, logs_closed=1))
    unverified = summed(Story().unverified("the process still runs"))
    assert tile(full) == ("yes", "pass")
    assert tile(open_loss) == ("yes", "open")
    assert tile(cut) == ("in part", "open")
    assert tile(full, unverified) == ("in part", "open")
    assert tile(unverified) == ("no", "open")


def test_a_lower_bound_has_the_reason_of_its_run() -> None:
    short, long = (
        summed(Story().outage(12, 14, words.UNDO)),
        summed(Story().outage(12, 30), repeat=2),
    )
    why = "the undo of the fault ended the outage"
    assert RunTotals([long]).out_bound == ""
    assert RunTotals([short]).out_bound == why
    assert RunTotals([short, long]).out_bound.replace("\u00a0", " ") == (
        f"another run is known only as ≥ 2.00 s ({why}), so it could exceed 18.0 s"
    )
    longer = summed(Story().outage(12, 32, words.EITHER), repeat=3)
    assert RunTotals([short, long, longer]).out_bound == (
        "the undo of the fault may have ended the outage"
    )


def test_a_run_that_was_certainly_shorter_makes_no_lower_bound() -> None:
    """A stall made its time uncertain by 0.14 s only."""
    stalled = Story().doubt("availability", "stalled", window=1, worker=1).outage(12, 14)
    short, long = summed(stalled), summed(Story().outage(12, 30), repeat=2)
    both = RunTotals([short, long])
    assert (out_text(both).replace("\u00a0", " "), both.out_bound) == ("18.0 s", "")
    assert out_text(RunTotals([short])).replace("\u00a0", " ") == "≥ 1.86 s"


def test_cells_without_consumers_have_no_times_of_deliveries() -> None:
    for consumers, shown in ((1, ["consumers_resumed"]), (0, [])):
        own = summed(Story(consumers=consumers))
        row = compared(own.cell, "consumers_resumed", 4e9)
        assert [one.measure for one in telling(report(own, comparison=(row,)))] == shown
