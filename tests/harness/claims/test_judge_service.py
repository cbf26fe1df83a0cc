"""Claims about service: its clients, its time, and what was never proved."""

from dataclasses import replace

import pytest

from harness.claims.judge import ClaimOutcome
from spark_analysis.schema.doubts import Doubt
from spark_analysis.schema.facts import Absence, Clock
from spark_analysis.schema.service import HEALED, QUEUE
from tests.harness.claims.judging import FAIL, INCONCLUSIVE, NOT_APPLICABLE, PASS, verdict
from tests.rigs.runs.findings import RUN, Story, ns

OUT_BY_UNDO = "the cluster as a whole was unavailable for 15.0 s, until the fault's end"


@pytest.mark.parametrize(
    ("found", "outcome", "why"),
    [
        ("served", PASS, "served: the cluster as a whole, 1 queue, 1 publisher"),
        ("out", FAIL, "the cluster as a whole was unavailable for 15.0 s"),
        ("open", INCONCLUSIVE, "the answer depends on the exact times"),
        ("sick", INCONCLUSIVE, "the load was already degraded before the fault"),
        ("few", INCONCLUSIVE, "only 2,000 publishes were due then"),
    ],
)
def test_successor_serves_until_the_fault_ends(
    found: str, outcome: ClaimOutcome, why: str
) -> None:
    one = verdict("mirror-takes-over", Story().service(found))
    assert one.outcome is outcome
    assert why in " ".join((*one.judged, *one.not_judged))


@pytest.mark.parametrize(("scope", "name"), [("queue", "orders"), ("publisher", "1")])
def test_one_unavailable_queue_or_publisher_refutes_despite_the_others(
    scope: str, name: str
) -> None:
    story = Story().service("out", scope=scope, name=name, ended="never")
    one = verdict("mirror-takes-over", story)
    assert one.outcome is FAIL
    assert f"{scope} {name} was unavailable for 15.0 s, and did not recover" in one.judged[0]
    story.service("sick")
    assert verdict("mirror-takes-over", story).outcome is FAIL


def test_an_outage_before_the_time_that_counts_is_reported() -> None:
    story = Story()
    (row,) = (one for key, one in story.services.items() if key == (1, "run", "", "fault"))
    until = row.from_ns / 1e9
    one = verdict("mirror-takes-over", story.outage(until - 12.3, until))
    assert one.outcome is PASS
    assert "; the outage of 12.3 s before messages were on time again does not" in one.judged[0]


def test_queue_with_too_little_load_is_left_out_and_reported() -> None:
    one = verdict("mirror-takes-over", Story().service("few", scope="queue", name="orders"))
    assert one.outcome is PASS
    assert "served: the cluster as a whole, 1 publisher, 1 with too little load" in one.judged[0]


def test_a_run_with_too_little_load_passes_nothing() -> None:
    one = verdict("mirror-takes-over", Story().few())
    assert one.outcome is INCONCLUSIVE
    assert "only 19 publishes were due then" in one.not_judged[0]


def test_an_outage_says_what_ended_it() -> None:
    assert (
        OUT_BY_UNDO in verdict("mirror-takes-over", Story().service("out", ended="undo")).judged[0]
    )


@pytest.mark.parametrize(("first", "outcome"), [(14.99, PASS), (15.0, FAIL), (15.2, FAIL)])
def test_confirms_after_the_fault_are_no_service_during_it(
    first: float, outcome: ClaimOutcome
) -> None:
    """In time everything succeeded; by a host that stood still meanwhile."""
    story = Story().stage("first_success", first)
    one = verdict("mirror-takes-over", story)
    assert one.outcome is outcome
    late = f"first confirmed after {first:.3f} s, of a fault of 15.0 s"
    assert (late in one.judged[0]) is (outcome is FAIL)
    assert verdict("available-after-fault", story).outcome is PASS, "it is served once healed"


@pytest.mark.parametrize(("first", "outcome"), [(13.99, PASS), (14.0, FAIL)])
def test_confirms_during_the_undo_belong_to_the_undo(first: float, outcome: ClaimOutcome) -> None:
    """It began at 12 s, its undo was issued at 26 s, and had returned at 27 s."""
    story = Story().stage("first_success", first)
    story.exposures[1] = replace(story.exposures[1], until_ns=ns(26))
    assert verdict("mirror-takes-over", story).outcome is outcome


def test_confirms_under_a_fault_that_outlasts_the_load_all_count() -> None:
    story = Story().steady().window(1, "kill", opens=40, lasts=30).stage("first_success", 19.9)
    assert story.exposures[1].until_ns == ns(70)
    story.exposures[1] = replace(story.exposures[1], until_ns=ns(60))
    assert verdict("mirror-takes-over", story.stage("first_success", 20.0)).outcome is PASS


@pytest.mark.parametrize(("found", "outcome"), [("sick", INCONCLUSIVE), ("served", FAIL)])
def test_shortfall_of_an_already_degraded_load_is_no_fault_harm(
    found: str, outcome: ClaimOutcome
) -> None:
    away = {"publishers_connected_to_target": False, "fault_target_role": "mirror"}
    one = verdict("mirror-failure-affects-own-clients", Story(**away).missed(1).service(found))
    assert one.outcome is outcome
    why = "fault 1: the load was already degraded before the fault (`missed == 0`)"
    assert (why in " ".join(one.not_judged)) is (found == "sick")


@pytest.mark.parametrize(("found", "outcome"), [("sick", INCONCLUSIVE), ("served", FAIL)])
def test_acknowledgements_of_an_already_degraded_load_may_be_late(
    found: str, outcome: ClaimOutcome
) -> None:
    story = Story().count("duplicated", "redelivery_after_ack", 29).service(found)
    one = verdict("acknowledged-is-not-redelivered", story)
    assert one.outcome is outcome
    said = " ".join((*one.judged, *one.not_judged))
    assert ("already degraded before the fault" in said) is (found == "sick")


@pytest.mark.parametrize(
    ("windows", "outcome"), [("", FAIL), ("1", FAIL), ("2", INCONCLUSIVE), ("1,2", INCONCLUSIVE)]
)
def test_a_degraded_load_excuses_what_its_fault_may_cause(
    windows: str, outcome: ClaimOutcome
) -> None:
    story = Story().window(2, "kill", opens=24, lasts=8).service("sick", window=2)
    story.count("duplicated", "redelivery_after_ack", 3, windows=windows)
    assert verdict("acknowledged-is-not-redelivered", story).outcome is outcome


def test_a_degraded_load_leaves_other_duplicates_proved() -> None:
    story = Story().count("duplicated", "offset_rollback", 1).service("sick")
    assert verdict("acknowledged-is-not-redelivered", story).outcome is FAIL


def test_a_fault_that_never_ended_brought_nothing() -> None:
    story = Story().steady().window(1, "kill", lasts=None).stage("first_success", 40.0)
    assert verdict("mirror-takes-over", story).outcome is PASS


@pytest.mark.parametrize(("due", "outcome"), [(19, INCONCLUSIVE), (20, FAIL)])
def test_consumer_is_silent_only_if_messages_were_available(
    due: int, outcome: ClaimOutcome
) -> None:
    story = Story().consumption(True, due=due).silent_consumer(due=due)
    assert verdict("mirrored-queue-works-on", story).outcome is outcome


def test_served_after_the_fault_needs_a_recorded_fault_end() -> None:
    story = Story()
    story.services = {key: row for key, row in story.services.items() if key[3] != "healed"}
    one = verdict("available-after-fault", story)
    assert one.outcome is INCONCLUSIVE
    assert "this fault, or one that overlaps with it, was not verified ended" in one.not_judged[0]


def healed_until(until: float, of_queue: str = "few") -> Story:
    """Too little was due once the fault was healed. The load ends at 60 s."""
    story = Story().few(HEALED).service(of_queue, scope=QUEUE, name="orders", promise=HEALED)
    story.starvation.clear()
    for key, row in story.services.items():
        if row.promise == HEALED:
            story.services[key] = replace(row, until_ns=ns(until))
    return story


@pytest.mark.parametrize(("until", "outcome"), [(59.9, NOT_APPLICABLE), (60, INCONCLUSIVE)])
def test_a_recovery_cut_short_by_the_next_fault_is_open(
    until: float, outcome: ClaimOutcome
) -> None:
    story = healed_until(until)
    assert verdict("available-after-fault", story).outcome is outcome
    assert verdict("consumed-after-fault", story).outcome is outcome


@pytest.mark.parametrize(("found", "outcome"), [("open", INCONCLUSIVE), ("out", FAIL)])
def test_unavailability_until_the_next_fault_counts_as_outage(
    found: str, outcome: ClaimOutcome
) -> None:
    assert verdict("available-after-fault", healed_until(50, found)).outcome is outcome


# --- recovery in the time of a later window ------------------------------------------------------


def beside_a_client(found: str, *, opens: float = 20, out_s: float | None = None) -> Story:
    """A queue's only host dies at 12 s and is back at 27 s, and a client stands still from `opens`
    on for 2 s: what comes once all is healed, from 30 s on, lies in the client's window."""
    alone = {"mirrors_at_fault": 0, "synchronised_mirrors_at_fault": 0, "copies": 1}
    clients = {"2": {"fault_target_role": "clients"}}
    story = Story(faults=2, windows=clients, **alone)
    story.window(2, "client_freeze", opens=opens, lasts=2)
    for number in (1, 2):
        story.service(found, promise=HEALED, window=number)
    for key, row in story.services.items():
        if row.promise == HEALED:
            worst_ns = row.worst_ns if out_s is None else ns(out_s)
            times = {"from_ns": ns(30), "until_ns": ns(60), "worst_ns": worst_ns}
            story.services[key] = replace(row, **times)  # type: ignore[arg-type]
    return story


def stalled(story: Story, window: int, late_s: float = 2) -> ClaimOutcome:
    """An outage of 4 s at the most is explained by the stall and a deadline."""
    story.doubt("availability", "stalled", window=window, worker=1, at_s=40, late_s=late_s)
    return verdict("durable-queue-returns", story).outcome


@pytest.mark.parametrize(
    ("found", "out_s", "by_itself", "in_doubt"),
    [
        ("served", 0.0, PASS, INCONCLUSIVE),  # a broken broker would pass
        ("out", 3.9, FAIL, INCONCLUSIVE),  # a healthy one would fail
        ("out", 4.1, FAIL, FAIL),  # more than the stall explains
    ],
)
def test_recovery_reads_the_caveats_of_its_own_window(
    found: str, out_s: float, by_itself: ClaimOutcome, in_doubt: ClaimOutcome
) -> None:
    def story() -> Story:
        return beside_a_client(found, out_s=out_s)

    assert verdict("durable-queue-returns", story()).outcome is by_itself
    assert stalled(story(), 2) is in_doubt
    assert stalled(story(), 1) is by_itself, "its time was over when the host was back"


@pytest.mark.parametrize(
    ("opens", "own"), [(59.9, INCONCLUSIVE), (29.9, PASS), (30, PASS), (30.1, INCONCLUSIVE)]
)
def test_recovery_within_two_windows_reads_the_caveats_of_both(
    opens: float, own: ClaimOutcome
) -> None:
    assert stalled(beside_a_client("served", opens=opens), 1) is own
    assert stalled(beside_a_client("served", opens=opens), 2) is INCONCLUSIVE


def test_a_stall_shorter_than_a_deadline_hides_no_outage() -> None:
    assert stalled(beside_a_client("served"), 2, late_s=1.9) is PASS


@pytest.mark.parametrize("opens", [60, 61])
def test_window_after_judged_recovery_says_nothing_about_it(opens: float) -> None:
    assert stalled(beside_a_client("served", opens=opens), 2) is PASS


def test_starvation_after_recovery_reads_the_caveats_of_its_window() -> None:
    def starving(stalled: int) -> ClaimOutcome:
        story = beside_a_client("served").starved(5.1, window=1).starved(0.1, window=2)
        story.doubt("availability", "consumer_stalled", window=stalled, worker=7)
        return verdict("consumed-after-fault", story).outcome

    assert (starving(1), starving(2)) == (FAIL, INCONCLUSIVE)


@pytest.mark.parametrize(
    ("from_s", "until_s", "outcome"),
    [
        (20, 29, PASS),
        (20, 30, PASS),
        (20, 30.1, INCONCLUSIVE),
        (59.9, 60, INCONCLUSIVE),
        (60, 61, PASS),
        (61, 62, PASS),
    ],
)
def test_publishers_that_another_fault_kept_away_before_are_back(
    from_s: float, until_s: float, outcome: ClaimOutcome
) -> None:
    story = beside_a_client("served").doubt("availability", "publishers_absent", window=2)
    away = Absence(1, ns(from_s), ns(until_s)), Absence(7, ns(20), ns(60))
    story.facts = replace(story.facts, absences=away)
    assert verdict("durable-queue-returns", story).outcome is outcome


def test_an_outage_after_recovery_counts_whatever_ended_it() -> None:
    """The stall lies beside the undo."""
    story = Story().service("out", promise=HEALED)
    story.doubts.append(Doubt(RUN, "availability", 1, "stalled", "", 1, ns(27.1), ns(0.14)))
    assert verdict("available-after-fault", story).outcome is FAIL
    under = Story().service("out", ended="undo")
    under.doubts.append(Doubt(RUN, "availability", 1, "stalled", "", 1, ns(27.1), ns(0.14)))
    assert verdict("mirror-takes-over", under).outcome is INCONCLUSIVE


@pytest.mark.parametrize(
    ("at_s", "outcome"),
    [(22.99, FAIL), (23, INCONCLUSIVE), (27, INCONCLUSIVE), (31.14, INCONCLUSIVE), (31.15, FAIL)],
)
def test_a_stall_within_two_deadlines_of_the_undo_hides_what_ended_it(
    at_s: float, outcome: ClaimOutcome
) -> None:
    """The deadline is 2 s and the fault ends at 27 s; the outage was longer than the stall, which
    lasted 0.14 s until then."""
    story = Story().service("out", ended="undo")
    story.doubts.append(Doubt(RUN, "availability", 1, "stalled", "", 1, ns(at_s), ns(0.14)))
    assert verdict("mirror-takes-over", story).outcome is outcome


def test_an_open_service_names_the_bound_of_publishers_clocks_in_seconds() -> None:
    story = Story().service("open")
    clocks = tuple(Clock(worker.number, ns(0.25)) for worker in story.facts.workers)
    story.facts = replace(story.facts, clocks=clocks)
    assert "(the publishers' clocks may be off by 0.250 s)" in " ".join(
        verdict("mirror-takes-over", story).not_judged
    )


def test_service_under_a_fault_reads_the_caveats_of_client_windows() -> None:
    """The client stands still from 20 s on, while the master's host is down until 27 s."""
    story = Story(faults=2, windows={"2": {"fault_target_role": "clients"}})
    story.window(2, "client_freeze", opens=20)
    assert verdict("mirror-takes-over", story).outcome is PASS
    story.doubt("availability", "stalled", window=2, worker=1, late_s=2)
    assert verdict("mirror-takes-over", story).outcome is INCONCLUSIVE
    after = Story(faults=2, windows={"2": {"fault_target_role": "clients"}})
    after.window(2, "client_freeze", opens=27)
    after.doubt("availability", "stalled", window=2, worker=1, late_s=2)
    assert verdict("mirror-takes-over", after).outcome is PASS
