"""The numbers of the first screen: they are the evidence's, bounds and unknowns included."""

from dataclasses import replace

from harness.report.page.outs import length, spell_text
from harness.view.summary import Number, summary
from spark_analysis.schema.facts import Worker
from spark_analysis.schema.service import SYSTEM, UNDO
from spark_analysis.schema.words import RecoveredBy
from tests.rigs.runs.findings import Story


def test_a_run_without_doubts_is_proved() -> None:
    found = summary(Story().count("lost", "replicated", 3).evidence)
    assert (found.confirmed, found.lost, found.stranded) == (
        21_400,
        Number(3, True),
        Number(0, True),
    )
    assert found.loss_proved and found.outage_proved
    (outage,) = found.outages
    assert (outage.silence_s, outage.degraded_s) == (Number(0.171, True), Number(0.0, True))
    assert (found.faults_seen, found.faults_of) == (1, 1)
    assert (found.logs_closed, found.logs_of) == (2, 2)


def test_unverified_fault_makes_its_findings_a_bound() -> None:
    found = summary(Story().count("lost", "replicated", 3).unverified("it runs").evidence)
    assert found.lost == Number(3, False, "fault 1: it runs")
    assert found.outages[0].silence_s == Number(None, False, "fault 1: it runs")
    assert not found.loss_proved and not found.outage_proved
    assert found.faults_seen == 0


def test_a_stall_leaves_the_loss_proved() -> None:
    found = summary(Story().doubt("availability", "stalled", window=1, worker=1).evidence)
    assert found.loss_proved
    assert not found.out_s.exact


def test_a_stall_longer_than_the_silence_leaves_it_unknown() -> None:
    stalled = Story().silence(0.1).doubt("availability", "stalled", window=1, worker=1)
    (outage,) = summary(stalled.evidence).outages
    assert outage.silence_s.least is None and outage.silence_s.why


def test_endless_outage_is_proved_for_its_observed_length() -> None:
    story = Story().silence(33.8, censored=True).stage("sustained_success", 33.0, reached=False)
    found = summary(story.evidence)
    assert found.outages[0].silence_s == Number(33.8, False)
    assert found.outages[0].degraded_s == Number(33.0, False)
    assert found.outage_proved


def test_outage_ended_only_by_the_undo_lasts_like_the_fault() -> None:
    found = summary(
        Story().stage("sustained_success", 13.1, recovered_by=RecoveredBy.UNDO).evidence
    )
    why = "the undo of the fault restored service"
    assert found.outages[0].degraded_s == Number(13.1, False, why)
    assert found.outage_proved


def test_unreadable_place_says_nothing_if_nothing_is_missing() -> None:
    found = summary(Story().doubt("loss", "unreadable", queue="orders").evidence)
    assert found.loss_proved


def test_without_any_fault_there_is_no_outage() -> None:
    found = summary(Story().steady().evidence)
    assert found.outages == () and found.outage_proved


def test_late_publishes_after_five_good_seconds_are_counted_apart() -> None:
    story = Story().stage("sustained_success", 0.5).missed(3)
    for sequence, at_s in enumerate((12.1, 17.4, 17.6)):  # the fault is at 12 s
        story.affect("missed", "", sequence, at_s)
    assert summary(story.evidence).outages[0].missed_later == 1


def test_the_recorded_timers_of_the_layout_are_shown() -> None:
    found = summary(Story("freeze", detection_timeout_s=20.0, route_poll_s=5).evidence)
    assert (found.detection_timeout_s, found.poll_s) == (20.0, 5.0)
    found = summary(Story("freeze", detection_timeout_s=None).evidence)
    assert (found.detection_timeout_s, found.poll_s) == (None, None)


def test_no_fault_but_a_silent_one_waits_for_the_detection_timeout() -> None:
    killed = summary(Story("kill", detection_timeout_s=20.0, route_poll_s=5).evidence)
    assert (killed.detection_timeout_s, killed.poll_s) == (None, 5.0)
    elected = Story("partition", detection_timeout_s=20.0, elects_by_majority=True)
    assert summary(elected.evidence).detection_timeout_s is None
    both = Story("kill", detection_timeout_s=20.0).window(2, "partition", opens=40)
    assert summary(both.evidence).detection_timeout_s == 20.0


def test_a_lower_bound_below_what_is_measured_is_unknown() -> None:
    """Service that never stopped gives such a bound, and it excludes nothing."""
    story = Story().stage("sustained_success", 0.0006, recovered_by=RecoveredBy.EITHER)
    (outage,) = summary(story.evidence).outages
    why = "sending stayed on time, but perhaps only because the fault ended soon"
    assert outage.degraded_s == Number(None, False, why)
    exact = Story().stage("sustained_success", 0.0006)
    assert summary(exact.evidence).outages[0].degraded_s == Number(0.0006, True)


def test_every_downtime_of_a_run_is_shortened_by_the_same_stalls() -> None:
    story = Story().doubt("availability", "stalled", window=1, worker=1)
    story.outage(12, 46.7, UNDO).outage(12, 46.9, UNDO, scope="publisher", name="1")
    second = Worker(2, "publisher", log_closed=True)
    story.facts = replace(story.facts, workers=(*story.facts.workers, second))
    found = summary(story.evidence)
    assert [round(one.seconds, 2) for one in found.outs] == [34.56, 34.76]
    assert (round(found.out_s.least or 0, 2), found.out_s.exact) == (34.56, False)
    assert found.out_s.why.startswith(
        "the undo of the fault ended the outage; publisher 1 stalled"
    )
    assert not any(one.whole for one in found.outs)
    text = spell_text(found.outs[0].spells[0], stalled_s=found.outs[0].stalled_s)
    measured = "(34.7 s measured, less 0.140 s in which mqproof itself stalled)"
    assert text.replace("\u00a0", " ").startswith(f"outage: ≥ 34.6 s {measured}")


def test_recovery_by_itself_is_no_reason_for_a_lower_bound() -> None:
    story = Story().doubt("availability", "stalled", window=1, worker=1)
    number = summary(story.outage(12, 46.7, SYSTEM).evidence).out_s
    assert (round(number.least or 0, 2), number.exact) == (34.56, False)
    assert number.why.startswith("publisher 1 stalled 140 ms")


def test_an_outage_no_longer_than_stalls_has_no_certain_length() -> None:
    stalled = Story().doubt("availability", "stalled", window=1, worker=1)
    found = summary(stalled.outage(12, 12.1, SYSTEM).evidence)
    (out,) = found.outs
    assert (found.out_s.least, out.seconds, out.whole, out.stalled_s) == (None, 0.0, False, 0.14)
    assert length(out) == "unknown, perhaps all stalls of mqproof"
    text = spell_text(out.spells[0], stalled_s=out.stalled_s).replace("\u00a0", " ")
    assert text.startswith("outage: 0.100 s measured, perhaps all stalls of mqproof, from ")
    without = Story().doubt("availability", "stalled", window=1, worker=1)
    assert [(one.whole, one.stalled_s) for one in summary(without.evidence).outs] == [(True, 0.0)]
