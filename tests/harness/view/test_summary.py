"""The numbers of the first screen: they are the evidence's, bounds and unknowns included."""

from harness.view.summary import Number, summary
from spark_analysis.schema.words import RecoveredBy
from tests.rigs.runs.findings import Story


def test_a_run_without_doubts_is_proved() -> None:
    told = summary(Story().count("lost", "replicated", 3).evidence)
    assert (told.confirmed, told.lost, told.stranded) == (21_400, Number(3, True), Number(0, True))
    assert told.loss_proved and told.outage_proved
    (outage,) = told.outages
    assert (outage.silence_s, outage.degraded_s) == (Number(0.171, True), Number(0.0, True))
    assert (told.faults_seen, told.faults_of) == (1, 1)
    assert (told.logs_closed, told.logs_of, told.queues_read, told.queues_of) == (2, 2, 1, 1)


def test_a_fault_that_was_not_seen_to_hold_leaves_what_was_found_as_a_bound() -> None:
    told = summary(Story().count("lost", "replicated", 3).unverified("it runs").evidence)
    assert told.lost == Number(3, False, "fault 1: it runs")
    assert told.outages[0].silence_s == Number(None, False, "fault 1: it runs")
    assert not told.loss_proved and not told.outage_proved
    assert told.faults_seen == 0


def test_a_stall_leaves_the_loss_proved() -> None:
    told = summary(Story().doubt("availability", "stalled", window=1, worker=1).evidence)
    assert told.loss_proved
    assert not told.out_s.exact


def test_a_stall_longer_than_the_silence_leaves_it_unknown() -> None:
    stalled = Story().silence(0.1).doubt("availability", "stalled", window=1, worker=1)
    (outage,) = summary(stalled.evidence).outages
    assert outage.silence_s.least is None and outage.silence_s.why


def test_an_outage_that_did_not_end_is_proved_to_have_lasted_so_long() -> None:
    story = Story().silence(33.8, censored=True).stage("sustained_success", 33.0, reached=False)
    told = summary(story.evidence)
    assert told.outages[0].silence_s == Number(33.8, False)
    assert told.outages[0].degraded_s == Number(33.0, False)
    assert told.outage_proved


def test_an_outage_that_only_the_faults_end_ended_is_as_long_as_the_fault() -> None:
    told = summary(
        Story().stage("sustained_success", 13.1, recovered_by=RecoveredBy.UNDO).evidence
    )
    why = "it would have lasted as long as the fault"
    assert told.outages[0].degraded_s == Number(13.1, False, why)
    assert told.outage_proved


def test_a_place_that_could_not_be_read_says_nothing_where_nothing_is_missing() -> None:
    told = summary(Story().doubt("loss", "unreadable", queue="orders").evidence)
    assert told.loss_proved


def test_without_any_fault_there_is_no_outage() -> None:
    told = summary(Story().calm().evidence)
    assert told.outages == () and told.outage_proved


def test_what_is_late_after_five_good_seconds_is_counted_apart() -> None:
    story = Story().stage("sustained_success", 0.5).missed(3)
    for sequence, at_s in enumerate((12.1, 17.4, 17.6)):  # the fault is at 12 s
        story.affect("missed", "", sequence, at_s)
    assert summary(story.evidence).outages[0].missed_later == 1


def test_the_layouts_timers_are_told_where_they_are_on_record() -> None:
    told = summary(Story(detection_timeout_s=20.0, route_poll_s=5).evidence)
    assert (told.detection_timeout_s, told.poll_s) == (20.0, 5.0)
    told = summary(Story(detection_timeout_s=None).evidence)
    assert (told.detection_timeout_s, told.poll_s) == (None, None)


def test_a_lower_bound_below_what_is_measured_is_unknown() -> None:
    """Service that never stopped gives such a bound, and it excludes nothing."""
    story = Story().stage("sustained_success", 0.0006, recovered_by=RecoveredBy.EITHER)
    (outage,) = summary(story.evidence).outages
    why = "the system or the end of the fault may have restored service"
    assert outage.degraded_s == Number(None, False, why)
    exact = Story().stage("sustained_success", 0.0006)
    assert summary(exact.evidence).outages[0].degraded_s == Number(0.0006, True)
