"""Claims against runs: every outcome, and every near miss of it."""

from dataclasses import replace

import pytest

from harness.analyse.claims import shipped
from harness.analyse.judge import ClaimVerdict, Outcome, exit_code, judge, worst
from harness.analyse.state import State
from harness.analyse.truth import Unknown
from tests.findings import OF_LOGS, Story

CLAIMS = {claim.name: claim for claim in shipped()}
PASS, FAIL = Outcome.PASS, Outcome.FAIL
INCONCLUSIVE, NOT_APPLICABLE = Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE


RECOVERIES = (
    "last-stopped-starts-first",
    "first-stopped-waits",
    "all-at-once-come-back",
    "first-stopped-can-be-replaced",
    "last-stopped-can-be-replaced",
    "nothing-comes-of-no-disk",
    "restarted-node-discards-its-disk",
)


OTHERS = (
    "stop-always-promotes",
    "always-promoting-loses",
    "silent-mirror-is-noticed-late",
    "transient-queue-is-gone",
    "unconfirmed-survive-an-election",
    "no-ack-loses",
    "floating-address-moves",
    "balancer-avoids-dead-nodes",
)

OF_SEVERAL_MASTERS = (
    "other-masters-take-over",
    "single-master-is-down",
    "broken-links-are-noticed-soon",
    "silent-broker-is-noticed-in-time",
    "silent-name-server-blinds-its-clients",
    "separate-name-servers-help",
    "one-name-server-is-enough",
    "clients-go-on-without-name-servers",
    "silent-name-server-is-bridged",
)

OF_TERMS = ("nothing-early", "rolled-back-stays-unseen", "no-transaction-torn")


def verdict(claim: str, story: Story) -> ClaimVerdict:
    (one,) = judge([CLAIMS[claim]], story.evidence)
    return one


def outcomes(story: Story) -> dict[str, Outcome]:
    return {one.claim: one.outcome for one in judge(shipped(), story.evidence)}


def test_a_kill_of_a_mirrored_queues_master_does_as_was_measured() -> None:
    assert outcomes(Story()) == {
        "nothing-unexpected": PASS,
        "nothing-corrupt": PASS,
        "refused-stays-refused": PASS,
        "confirmed-is-on-disk": PASS,
        "confirmed-is-on-all-mirrors": PASS,
        "mirror-takes-over": PASS,
        "oldest-mirror-takes-over": PASS,
        "election-loses-nothing": PASS,
        "mirrored-queue-works-on": PASS,
        "duplicates-are-requeued": PASS,
        "untold-consumer-waits-forever": FAIL,
        "told-consumer-is-cancelled": NOT_APPLICABLE,
        "unsynchronised-messages-are-lost": NOT_APPLICABLE,
        "crash-promotes-any-mirror": NOT_APPLICABLE,
        "stop-promotes-no-empty-mirror": NOT_APPLICABLE,
        "mirror-failure-harms-nobody": NOT_APPLICABLE,
        "unmirrored-queue-is-down": NOT_APPLICABLE,
        "durable-queue-returns": NOT_APPLICABLE,
        "rejoined-node-starts-empty": NOT_APPLICABLE,
        "any-node-reaches-any-queue": NOT_APPLICABLE,
        "queue-is-first-in-first-out": PASS,
        "host-list-goes-on": PASS,
        **dict.fromkeys((*OTHERS, *OF_TERMS, *OF_SEVERAL_MASTERS), NOT_APPLICABLE),
        **dict.fromkeys(RECOVERIES, NOT_APPLICABLE),
    }


def test_a_kill_of_an_unmirrored_queues_host_does_as_was_measured() -> None:
    story = Story(mirrors_at_fault=0, synchronised_mirrors_at_fault=0, copies=1)
    story.stage("first_success", 24.0).stage("sustained_success", 24.5)
    found = outcomes(story)
    assert {
        name: found[name] for name in ("unmirrored-queue-is-down", "durable-queue-returns")
    } == {
        "unmirrored-queue-is-down": PASS,
        "durable-queue-returns": PASS,
    }
    assert found["mirror-takes-over"] is NOT_APPLICABLE
    assert found["confirmed-is-on-disk"] is PASS


def test_what_a_stopping_host_still_serves_is_no_availability() -> None:
    story = Story(mirrors_at_fault=0, synchronised_mirrors_at_fault=0, copies=1, fault_kind="stop")
    still, restarted = 0.05, 24.5
    story.stage("first_success", still).stage("sustained_success", restarted)
    assert outcomes(story)["unmirrored-queue-is-down"] is PASS


def late_mirror(master_falls_by: str = "kill") -> Story:
    """A mirror is killed and returns with nothing; then the master goes."""
    second = {
        "fault_target_role": "master",
        "mirrors_at_fault": 1,
        "synchronised_mirrors_at_fault": 0,
        "publishers_entered_at_target": False,
        "consumers_entered_at_target": False,
        "promoted_mirror_rank": 1,
    }
    story = Story(
        fault_target_role="mirror",
        consumers=0,
        acknowledges=False,
        faults=2,
        publishers_entered_at_target=False,
        windows={"2": second},
    )
    return story.window(2, master_falls_by, opens=32)


def test_what_a_late_mirror_lacks_is_lost_with_the_master() -> None:
    found = outcomes(late_mirror().count("lost", "replicated", 1_056))
    assert found["unsynchronised-messages-are-lost"] is PASS
    assert found["crash-promotes-any-mirror"] is PASS
    assert found["oldest-mirror-takes-over"] is PASS
    assert found["confirmed-is-on-disk"] is FAIL
    assert found["mirrored-queue-works-on"] is FAIL
    # These promise something of mirrors that hold everything; that of the first window did, but
    # it was no master that failed there.
    assert found["election-loses-nothing"] is NOT_APPLICABLE
    assert found["confirmed-is-on-all-mirrors"] is NOT_APPLICABLE
    # The loss is not the first fault's, and nobody consumed.
    assert found["mirror-failure-harms-nobody"] is NOT_APPLICABLE
    assert found["untold-consumer-waits-forever"] is NOT_APPLICABLE


def test_a_late_mirror_that_loses_nothing_contradicts_what_was_said() -> None:
    assert outcomes(late_mirror())["unsynchronised-messages-are-lost"] is FAIL


def test_a_stopped_master_is_waited_for_where_no_mirror_holds_everything() -> None:
    story = late_mirror("stop").stage("first_success", 24.0, window=2)
    found = outcomes(story.stage("sustained_success", 24.0, window=2))
    assert found["stop-promotes-no-empty-mirror"] is PASS
    assert found["unsynchronised-messages-are-lost"] is NOT_APPLICABLE
    assert outcomes(late_mirror("stop"))["stop-promotes-no-empty-mirror"] is FAIL


@pytest.mark.parametrize("kind", ["stop", "freeze"])
def test_a_master_that_is_stopped_or_freezes_is_judged_like_one_that_crashes(kind: str) -> None:
    found = outcomes(Story(kind))
    for claim in (
        "confirmed-is-on-all-mirrors",
        "mirror-takes-over",
        "oldest-mirror-takes-over",
        "mirrored-queue-works-on",
    ):
        assert found[claim] is PASS, claim


def test_a_client_that_knows_only_the_host_that_failed_says_nothing_of_who_takes_over() -> None:
    story = Story(entrance="one").stage("sustained_success", 24.0)
    found = outcomes(story)
    for claim in ("mirror-takes-over", "mirrored-queue-works-on"):
        assert found[claim] is NOT_APPLICABLE, claim
    assert found["confirmed-is-on-all-mirrors"] is PASS


def test_runs_of_before_there_was_a_choice_had_a_list_of_hosts() -> None:
    old = State.from_json({"copies": 3, "windows": {"1": {"fault_kind": "kill"}}})
    assert old.value("entrance", 1) == "hosts"
    assert State.from_json({"entrance": "one"}).value("entrance", 1) == "one"
    assert isinstance(State.from_json({}).value("entrance", 1), Unknown)


def test_runs_of_before_it_was_recorded_had_one_master_unless_mirrors_are_never_promoted() -> None:
    old = Story()
    del old.state["masters"]
    assert verdict("mirror-takes-over", old).outcome is PASS
    of_logs = Story(**OF_LOGS).stage("sustained_success", 20.0)
    del of_logs.state["masters"]
    assert verdict("single-master-is-down", of_logs).outcome is INCONCLUSIVE


def a_mirrors_crash(missed: int = 0, **state: object) -> Story:
    away = {"publishers_entered_at_target": False, "fault_target_role": "mirror"}
    return Story(**(away | state)).missed(missed)


def test_a_mirrors_crash_harms_nobody_who_is_not_connected_to_it() -> None:
    claim = "mirror-failure-harms-nobody"
    assert verdict(claim, a_mirrors_crash()).outcome is PASS
    assert verdict(claim, a_mirrors_crash(missed=1)).outcome is FAIL
    assert verdict(claim, a_mirrors_crash().count("duplicated", "redelivery", 1)).outcome is FAIL
    entered = a_mirrors_crash(missed=1, publishers_entered_at_target=True)
    assert verdict(claim, entered).outcome is NOT_APPLICABLE


def test_a_pass_says_what_was_judged() -> None:
    assert verdict("election-loses-nothing", Story()).judged == (
        "lost == 0: 0 of 21,400",
        "stranded == 0: 0 of 21,400",
    )
    assert verdict("mirror-takes-over", Story()).judged == (
        "window 1: sustained_success_within_fault == true: true "
        "(after 0.000 s of a fault of 15.0 s)",
    )


def test_a_false_precondition_is_not_applicable_and_says_which() -> None:
    one = verdict("election-loses-nothing", Story(synchronised_mirrors_at_fault=0))
    assert one.outcome is NOT_APPLICABLE
    assert one.not_judged == ("window 1: synchronised_mirrors_at_fault >= 1: 0",)


def test_an_unknown_precondition_is_inconclusive_even_beside_a_loss() -> None:
    story = Story(synchronised_mirrors_at_fault=None).count("lost", "replicated", 3)
    one = verdict("election-loses-nothing", story)
    assert one.outcome is INCONCLUSIVE
    assert "synchronised_mirrors_at_fault: it was not recorded" in one.not_judged[0]


def test_a_false_precondition_outweighs_an_unknown_one() -> None:
    story = Story(synchronised_mirrors_at_fault=None, confirms=False)
    assert verdict("election-loses-nothing", story).outcome is NOT_APPLICABLE


def test_a_fail_tells_the_story_of_the_earliest_message() -> None:
    story = Story().count("lost", "replicated", 2)
    story.affect("lost", "replicated", 4711, at=12.7).affect("lost", "replicated", 4702, at=12.4)
    one = verdict("election-loses-nothing", story)
    assert one.outcome is FAIL
    assert one.judged[0] == "lost == 0: 2 of 21,400"
    assert one.story == (
        "message 4702 of publisher 1 (producer 1) in orders was first sent at +12.400 s and "
        "confirmed (replicated), never delivered, not found by the audit after a complete drain"
    )


def test_a_fail_about_a_window_tells_its_stages_and_what_is_known() -> None:
    one = verdict("untold-consumer-waits-forever", Story())
    assert one.outcome is FAIL
    assert "consumers_resumed after 0.161 s" in one.story
    assert "3.10" in one.known


def test_a_loss_that_may_be_more_is_a_fail_all_the_same() -> None:
    story = Story().count("lost", "replicated", 3).count("loss_unknown", "drain", 50)
    story.doubt("loss", "drain", queue="orders")
    assert verdict("election-loses-nothing", story).outcome is FAIL


def test_no_loss_found_where_some_may_be_is_inconclusive() -> None:
    story = Story().count("loss_unknown", "drain", 50).doubt("loss", "drain", queue="orders")
    one = verdict("election-loses-nothing", story)
    assert one.outcome is INCONCLUSIVE
    assert "50 messages: orders was not drained" in one.not_judged[0]
    assert one.advice == ("raise drain_limit, or see why the queue could not be emptied",)


def test_an_unreadable_place_that_holds_nothing_of_ours_leaves_loss_judged() -> None:
    story = Story().doubt("loss", "unreadable", queue="orders")
    assert verdict("election-loses-nothing", story).outcome is PASS
    story.count("unreachable", "replicated", 4)
    assert verdict("election-loses-nothing", story).outcome is INCONCLUSIVE


def test_an_open_publisher_log_matters_only_where_an_outcome_is_open() -> None:
    story = Story().doubt("loss", "publisher_log", worker=1)
    assert verdict("confirmed-is-on-disk", story).outcome is PASS
    story.count("lost_indeterminate", "", 2)
    assert verdict("confirmed-is-on-disk", story).outcome is INCONCLUSIVE


def test_what_a_dead_consumer_may_have_got_is_not_stranded_for_sure() -> None:
    story = Story().count("stranded", "replicated", 2).doubt("loss", "consumer_log", worker=7)
    assert verdict("election-loses-nothing", story).outcome is INCONCLUSIVE


def test_an_open_consumer_log_leaves_counts_of_deliveries_open() -> None:
    story = Story().doubt("loss", "consumer_log", worker=7)
    assert verdict("nothing-corrupt", story).outcome is INCONCLUSIVE
    assert verdict("nothing-corrupt", story.count("corrupt", "payload", 1)).outcome is FAIL


def test_an_ambiguous_duplicate_leaves_open_whether_anything_is_stored_twice() -> None:
    assert verdict("duplicates-are-requeued", Story()).outcome is PASS
    story = Story().count("duplicated", "ambiguous", 2)
    assert verdict("duplicates-are-requeued", story).outcome is INCONCLUSIVE
    story.count("duplicated", "stored_twice", 1)
    assert verdict("duplicates-are-requeued", story).outcome is FAIL


def test_a_stall_makes_availability_unknown_and_leaves_loss_judged() -> None:
    story = Story().doubt("availability", "stalled", window=1, worker=1)
    takes_over = verdict("mirror-takes-over", story)
    assert takes_over.outcome is INCONCLUSIVE
    assert "publisher 1 stalled 140 ms at +12.3 s (host busy)" in takes_over.not_judged[0]
    assert verdict("election-loses-nothing", story).outcome is PASS


def test_a_stall_cannot_invent_a_delivery() -> None:
    story = Story().doubt("availability", "stalled", window=1, worker=1)
    assert verdict("untold-consumer-waits-forever", story).outcome is FAIL
    story.stage("consumers_resumed", 48.0, reached=False)
    assert verdict("untold-consumer-waits-forever", story).outcome is INCONCLUSIVE


def test_without_publishers_nobody_can_say_how_available_the_broker_was() -> None:
    story = Story().doubt("availability", "publishers_absent", window=1)
    takes_over = verdict("mirror-takes-over", story)
    assert takes_over.outcome is INCONCLUSIVE
    assert "a fault kept all publishers away" in takes_over.not_judged[0]
    assert verdict("election-loses-nothing", story).outcome is PASS


def test_without_consumers_only_what_they_would_have_got_is_unknown() -> None:
    story = Story().doubt("availability", "consumers_absent", window=1)
    story.stage("consumers_resumed", 48.0, reached=False)
    assert verdict("mirror-takes-over", story).outcome is PASS
    assert verdict("untold-consumer-waits-forever", story).outcome is INCONCLUSIVE


def test_a_stall_of_another_window_is_no_doubt_of_this_one() -> None:
    story = Story().doubt("availability", "stalled", window=0, worker=1)
    assert verdict("mirror-takes-over", story).outcome is PASS


def test_an_unverified_fault_leaves_nothing_but_proved_violations() -> None:
    story = Story().unverified("not seen to hold: the process runs")
    assert set(outcomes(story).values()) == {INCONCLUSIVE, NOT_APPLICABLE}
    one = verdict("mirror-takes-over", story)
    assert "fault 1: not seen to hold: the process runs" in one.not_judged[0]
    story.count("lost", "replicated", 1)
    assert verdict("confirmed-is-on-disk", story).outcome is FAIL
    assert verdict("election-loses-nothing", story).outcome is INCONCLUSIVE


def test_a_clock_doubt_is_a_doubt_about_the_whole_run() -> None:
    story = Story().doubt("run", "clock")
    story.facts = replace(story.facts, clock_doubt="the machine was suspended for 3.0 s")
    one = verdict("queue-is-first-in-first-out", story)
    assert one.outcome is INCONCLUSIVE
    assert "suspended for 3.0 s" in one.not_judged[0]


@pytest.mark.parametrize(
    ("after", "reached", "outcome"),
    [(14.9, True, PASS), (15.0, True, FAIL), (20.0, False, FAIL), (10.0, False, INCONCLUSIVE)],
)
def test_service_must_be_back_before_the_fault_ends(
    after: float, reached: bool, outcome: Outcome
) -> None:
    story = Story().stage("sustained_success", after, reached=reached)
    assert verdict("mirror-takes-over", story).outcome is outcome


@pytest.mark.parametrize(("first", "outcome"), [(14.97, PASS), (14.99, FAIL), (15.2, FAIL)])
def test_what_patient_clients_are_confirmed_after_the_fault_is_no_service_within_it(
    first: float, outcome: Outcome
) -> None:
    """Within their deadline everything succeeded; by a host that stood still meanwhile."""
    story = Story().stage("first_success", first).stage("sustained_success", 0.003)
    one = verdict("mirror-takes-over", story)
    assert one.outcome is outcome
    late = f"after 0.003 s, confirmed after {first:.3f} s, of a fault of 15.0 s"
    assert (late in one.judged[0]) is (outcome is FAIL)


def test_at_rate_max_there_is_no_sustained_success_to_judge() -> None:
    story = Story()
    story.facts = replace(story.facts, paced=False)
    del story.stages[1, "sustained_success"]
    one = verdict("mirror-takes-over", story)
    assert one.outcome is NOT_APPLICABLE
    assert "rate is max" in one.not_judged[0]
    assert verdict("mirrored-queue-works-on", story).outcome is NOT_APPLICABLE
    story.count("lost", "replicated", 1)
    assert verdict("mirrored-queue-works-on", story).outcome is FAIL


def test_where_nothing_was_confirmed_nothing_is_passed() -> None:
    story = Story().count("state", "acknowledged", 0).count("state", "not_sent", 9)
    one = verdict("confirmed-is-on-disk", story)
    assert one.outcome is INCONCLUSIVE
    assert "no message was confirmed" in one.not_judged[0]


def test_a_run_without_any_message_passes_nothing() -> None:
    story = Story()
    story.counts.clear()
    assert PASS not in outcomes(story.calm()).values()


def test_a_calm_run_judges_what_needs_no_fault() -> None:
    found = outcomes(Story().calm())
    assert found["confirmed-is-on-disk"] is PASS
    assert found["mirror-takes-over"] is NOT_APPLICABLE


def test_where_nothing_was_delivered_nothing_is_known_of_order() -> None:
    story = Story()
    del story.counts["in_order", ""]
    one = verdict("queue-is-first-in-first-out", story)
    assert one.outcome is INCONCLUSIVE
    assert "nothing was delivered" in one.not_judged[0]


def test_order_that_was_not_promised_is_not_applicable() -> None:
    story = Story().count("not_judged", "not_promised", 21_400)
    del story.counts["in_order", ""]
    assert verdict("queue-is-first-in-first-out", story).outcome is NOT_APPLICABLE
    story.count("not_judged", "redelivered", 3)
    assert verdict("queue-is-first-in-first-out", story).outcome is INCONCLUSIVE


def test_of_several_windows_the_heaviest_speaks_and_the_others_stay_out() -> None:
    story = Story().window(2, "hang", opens=40, lasts=10)
    story.state["windows"] = {"2": {"fault_target_role": "none"}}
    assert verdict("mirror-takes-over", story).judged[0].startswith("window 1:")
    assert verdict("any-node-reaches-any-queue", story).judged[0].startswith("window 2:")
    story.stage("sustained_success", 12.0, window=2)
    assert verdict("any-node-reaches-any-queue", story).outcome is FAIL
    assert verdict("mirror-takes-over", story).outcome is PASS


def test_the_roles_of_a_first_fault_say_nothing_of_a_second() -> None:
    story = Story().window(2, "kill", opens=40, lasts=10)
    assert verdict("mirror-takes-over", story).outcome is INCONCLUSIVE


def test_the_heaviest_outcome_wins() -> None:
    assert worst([PASS, NOT_APPLICABLE]) is PASS
    assert worst([PASS, INCONCLUSIVE]) is INCONCLUSIVE
    assert worst([INCONCLUSIVE, FAIL, PASS]) is FAIL
    assert worst([]) is NOT_APPLICABLE


def _run(*outcomes: Outcome) -> list[ClaimVerdict]:
    return [ClaimVerdict("c", outcome, "", "", "") for outcome in outcomes]


@pytest.mark.parametrize(
    ("runs", "code"),
    [
        ([_run(PASS, NOT_APPLICABLE)], 0),
        ([_run(PASS), _run(FAIL, INCONCLUSIVE)], 1),
        ([_run(PASS), _run(INCONCLUSIVE)], 2),
        ([_run(PASS), _run(NOT_APPLICABLE)], 2),
        ([_run(PASS), []], 2),
        ([_run(FAIL), []], 1),
        ([], 2),
    ],
)
def test_exit_codes_of_claims(runs: list[list[ClaimVerdict]], code: int) -> None:
    assert exit_code(runs) == code


def recovered(**state: object) -> Story:
    """Every host was stopped in turn and started again, the last one first; nobody consumed."""
    usual: dict[str, object] = {
        "operations": 5,
        "faults": 0,
        "consumers": 0,
        "all_stopped": "in turn",
        "started_first": "last stopped",
        "lost_disk": "none",
        "forgotten": "none",
        "queues_have_masters": True,
        "mirrors_after_operations": 2,
    }
    return Story(**(usual | state)).calm()


@pytest.mark.parametrize(
    ("state", "applies"),
    [
        ({}, {"last-stopped-starts-first": PASS, "restarted-node-discards-its-disk": FAIL}),
        ({"started_first": "first stopped"}, {"first-stopped-waits": PASS}),
        ({"all_stopped": "at once", "started_first": "other"}, {"all-at-once-come-back": PASS}),
        ({"queues_have_masters": False}, {"last-stopped-starts-first": FAIL}),
        ({"queues_have_masters": None}, {"last-stopped-starts-first": INCONCLUSIVE}),
        (
            {"lost_disk": "first stopped", "forgotten": "online"},
            {"first-stopped-can-be-replaced": PASS, "last-stopped-starts-first": NOT_APPLICABLE},
        ),
        (
            {"lost_disk": "last stopped", "forgotten": "offline"},
            {"last-stopped-can-be-replaced": PASS, "last-stopped-starts-first": NOT_APPLICABLE},
        ),
        (
            {"lost_disk": "all", "queues_have_masters": False},
            {"nothing-comes-of-no-disk": PASS},
        ),
        (
            {"all_stopped": "none", "started_first": "none"},
            dict.fromkeys(RECOVERIES, NOT_APPLICABLE),
        ),
    ],
)
def test_each_recovery_is_judged_by_how_the_hosts_went_and_came(
    state: dict[str, object], applies: dict[str, Outcome]
) -> None:
    found = outcomes(recovered(**state))
    assert {name: found[name] for name in applies} == applies


def test_what_was_lost_on_the_way_refutes_a_recovery() -> None:
    story = recovered().count("lost", "replicated", 3)
    assert verdict("last-stopped-starts-first", story).outcome is FAIL
    assert verdict("restarted-node-discards-its-disk", story).outcome is PASS


def test_a_failed_operation_leaves_a_recovery_undecided() -> None:
    story = recovered()
    story.facts = replace(story.facts, clock_doubt="operation 4 (start_node all) failed: silent")
    story.doubt("run", "clock")
    one = verdict("last-stopped-starts-first", story)
    assert one.outcome is INCONCLUSIVE
    assert "operation 4 (start_node all) failed: silent" in " ".join(one.not_judged)


def termed() -> Story:
    """Some messages were delayed, some in transactions of every fate."""
    story = Story().count("delayed", "", 700)
    for fate in ("commit", "commit_when_asked", "rollback", "rollback_when_asked"):
        story.count("transactions", fate, 50)
    return story


def test_a_run_without_delays_or_transactions_says_nothing_of_them_and_why() -> None:
    told = {name: verdict(name, Story()).not_judged for name in OF_TERMS}
    assert told == {
        "nothing-early": ("early == 0: not applicable: no message was delayed",),
        "rolled-back-stays-unseen": (
            "rolled_back_but_delivered == 0: not applicable: nothing was sent in a transaction",
        ),
        "no-transaction-torn": (
            "torn_transaction == 0: not applicable: no transaction was to be committed",
        ),
    }
    rolled_back = Story().count("transactions", "rollback", 9)
    assert verdict("rolled-back-stays-unseen", rolled_back).outcome is PASS
    assert verdict("no-transaction-torn", rolled_back).outcome is NOT_APPLICABLE


def test_a_run_with_delays_and_transactions_is_judged_by_them() -> None:
    assert [verdict(name, termed()).outcome for name in OF_TERMS] == [PASS, PASS, PASS]


@pytest.mark.parametrize(
    ("claim", "measure", "detail", "story"),
    [
        (
            "nothing-early",
            "early",
            "",
            "was delivered at +12.400 s, attempt 0, before it was due",
        ),
        (
            "rolled-back-stays-unseen",
            "rolled_back_but_delivered",
            "rollback",
            "was in a transaction that was rolled back, and yet delivered at +12.400 s",
        ),
        (
            "no-transaction-torn",
            "torn_transaction",
            "stored",
            "was committed (stored) and never delivered; the audit found its half, without the "
            "commit, at +12.400 s",
        ),
    ],
)
def test_what_breaks_a_delay_or_a_transaction_is_a_fail_with_its_story(
    claim: str, measure: str, detail: str, story: str
) -> None:
    broken = termed().count(measure, detail, 2).affect(measure, detail, 3, at=12.4)
    one = verdict(claim, broken)
    assert one.outcome is FAIL
    assert one.judged == (f"{measure} == 0: 2",)
    assert one.story == f"message 3 of publisher 1 (producer 1) in orders {story}"


def test_what_the_clocks_cannot_call_early_is_nobodys_fault_and_no_pass() -> None:
    story = termed().count("early_unknown", "", 4)
    one = verdict("nothing-early", story)
    assert one.outcome is INCONCLUSIVE
    assert one.not_judged == (
        "early == 0: 0, but 4 more came before their time by no more than the clocks are off",
    )
    assert verdict("nothing-early", story.count("early", "", 1)).outcome is FAIL


def test_a_delivered_message_whose_rollback_nobody_heard_of_is_no_pass() -> None:
    story = termed().count("rollback_unknown", "rollback", 1)
    assert verdict("rolled-back-stays-unseen", story).outcome is INCONCLUSIVE
    story.count("rolled_back_but_delivered", "commit", 1)
    assert verdict("rolled-back-stays-unseen", story).outcome is FAIL


@pytest.mark.parametrize(
    ("reason", "sentence", "advice"),
    [
        (
            "not_due",
            "orders: the drain did not outlast the delay of what is missing",
            "let the drain go on until the longest delay is over",
        ),
        (
            "pending",
            "orders: what is missing was to be committed when the broker asks, and whether it "
            "did is not on record",
            "let producers live until the broker has asked them",
        ),
    ],
)
def test_what_is_missing_and_may_still_come_leaves_loss_open(
    reason: str, sentence: str, advice: str
) -> None:
    story = termed().count("loss_unknown", reason, 5).doubt("loss", reason, queue="orders")
    one = verdict("election-loses-nothing", story)
    assert one.outcome is INCONCLUSIVE
    assert f"5 messages: {sentence}" in one.not_judged[0]
    assert one.advice == (advice,)


def test_a_queue_that_was_not_drained_leaves_open_whether_a_transaction_is_torn() -> None:
    story = termed().doubt("loss", "drain", queue="orders")
    assert verdict("no-transaction-torn", story).outcome is INCONCLUSIVE


def test_where_everything_was_delayed_no_order_is_promised() -> None:
    story = Story().count("in_order", "", 0).count("not_judged", "not_at_once", 700)
    one = verdict("queue-is-first-in-first-out", story)
    assert one.outcome is NOT_APPLICABLE
    assert one.not_judged == (
        "reordered == 0: not applicable: order is not promised: all were delayed, or in "
        "transactions",
    )


def test_a_queue_of_several_masters_has_no_mirror_that_takes_over() -> None:
    told = outcomes(Story(**OF_LOGS))
    for claim in ("mirror-takes-over", "oldest-mirror-takes-over", "mirrored-queue-works-on"):
        assert told[claim] is NOT_APPLICABLE, claim
    assert told["election-loses-nothing"] is NOT_APPLICABLE, "nobody is elected"
    rejoined = verdict("rejoined-node-starts-empty", Story("freeze", **OF_LOGS))
    assert rejoined.outcome is NOT_APPLICABLE, "it is the master still, with all that it held"
    assert told["other-masters-take-over"] is PASS
    assert told["broken-links-are-noticed-soon"] is PASS
    assert told["confirmed-is-on-all-mirrors"] is PASS


def test_what_no_client_of_a_run_knows_is_no_question_of_it() -> None:
    """Of AMQP's consumers alone is promised that they are told of a new master."""
    for claim in ("untold-consumer-waits-forever", "host-list-goes-on"):
        told = verdict(claim, Story(**OF_LOGS))
        assert told.outcome is NOT_APPLICABLE, told.not_judged


def test_a_single_master_without_a_mirror_that_may_be_one_is_down_until_somebody_acts() -> None:
    alone = {**OF_LOGS, "masters": 1}
    down = Story(**alone).stage("sustained_success", 20.0)
    assert verdict("single-master-is-down", down).outcome is PASS
    assert verdict("mirror-takes-over", down).outcome is FAIL
    assert verdict("single-master-is-down", Story(**alone)).outcome is FAIL
    operated = Story(**alone, operations=1)
    assert verdict("single-master-is-down", operated).outcome is NOT_APPLICABLE


@pytest.mark.parametrize(
    ("after", "reached", "lasts", "outcome"),
    [
        (24.9, True, 40, PASS),
        (25.1, True, 40, FAIL),
        (40.0, False, 40, FAIL),
        (24.0, False, 40, INCONCLUSIVE),  # the load ended before
        (12.0, True, 10, INCONCLUSIVE),  # of a fault that was over before
        (30.0, True, 10, FAIL),
    ],
)
def test_a_silent_broker_is_noticed_within_the_timer_and_a_poll(
    after: float, reached: bool, lasts: float, outcome: Outcome
) -> None:
    story = Story("freeze", **OF_LOGS).calm().window(1, "freeze", lasts=lasts)
    story.stage("sustained_success", after, reached=reached)
    told = verdict("silent-broker-is-noticed-in-time", story)
    assert told.outcome is outcome
    if outcome is not INCONCLUSIVE:
        assert "the bound is 25 s" in told.judged[0]


def test_of_a_name_server_beside_the_broker_its_own_clients_say_something_and_others_nothing() -> (
    None
):
    claim = "silent-name-server-blinds-its-clients"
    assert verdict(claim, Story("freeze", **OF_LOGS)).outcome is FAIL
    blind = Story("freeze", **OF_LOGS).stage("sustained_success", 20.0)
    assert verdict(claim, blind).outcome is PASS
    others = Story("freeze", **{**OF_LOGS, "publishers_attached_to_target": 0})
    assert verdict(claim, others).outcome is NOT_APPLICABLE
    unknown = Story("freeze", **{**OF_LOGS, "publishers_attached_to_target": None})
    assert verdict(claim, unknown).outcome is INCONCLUSIVE
    apart = Story("freeze", **{**OF_LOGS, "name_servers_at_target": 0})
    assert verdict(claim, apart).outcome is NOT_APPLICABLE
    assert verdict("separate-name-servers-help", apart).outcome is PASS


def test_name_servers_that_fail_are_missed_by_nobody_who_runs_already() -> None:
    one = {**OF_LOGS, "fault_target_role": "name server"}
    told = outcomes(Story("kill", **one))
    assert told["one-name-server-is-enough"] is PASS
    assert told["clients-go-on-without-name-servers"] is NOT_APPLICABLE
    assert told["silent-name-server-is-bridged"] is NOT_APPLICABLE
    assert outcomes(Story("freeze", **one))["silent-name-server-is-bridged"] is PASS
    every = {**one, "name_servers_at_target": 2, "name_servers_left": 0}
    told = outcomes(Story("kill", **every))
    assert told["one-name-server-is-enough"] is NOT_APPLICABLE
    assert told["clients-go-on-without-name-servers"] is PASS
    silent = Story("kill", **every).stage("consumers_resumed", 20.0, reached=False)
    assert verdict("clients-go-on-without-name-servers", silent).outcome is FAIL
