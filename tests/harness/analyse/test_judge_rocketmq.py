"""Claims about queues of several masters, and clients that ask name servers."""

import pytest

from harness.analyse.judge import Outcome
from spark_analysis.schema.words import Owed
from tests.findings import OF_LOGS, Story
from tests.harness.analyse.judging import (
    FAIL,
    INCONCLUSIVE,
    NOT_APPLICABLE,
    PASS,
    outcomes,
    verdict,
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
    assert told["any-node-reaches-any-queue"] is NOT_APPLICABLE, "clients enter nowhere"
    assert told["queue-is-first-in-first-out"] is NOT_APPLICABLE, "it has two masters"


def test_what_a_layout_does_not_wait_for_is_not_what_its_confirms_are_judged_by() -> None:
    async_ = {**OF_LOGS, "confirm_waits_for_mirrors": False}
    told = outcomes(Story(**async_))
    assert told["confirmed-is-on-all-mirrors"] is NOT_APPLICABLE
    assert told["confirmed-is-on-disk"] is NOT_APPLICABLE
    assert told["confirmed-in-memory-is-kept"] is PASS
    lost = outcomes(Story(**async_).count("lost", "buffered", 1))
    assert lost["confirmed-in-memory-is-kept"] is FAIL
    flushed = outcomes(Story(**{**OF_LOGS, "confirm_waits_for_disk": True}))
    assert flushed["confirmed-is-on-disk"] is PASS
    assert flushed["confirmed-in-memory-is-kept"] is NOT_APPLICABLE


def test_what_no_client_of_a_run_knows_is_no_question_of_it() -> None:
    """Of AMQP's consumers alone is promised that they are told of a new master."""
    for claim in ("untold-consumer-waits-forever", "host-list-goes-on"):
        told = verdict(claim, Story(**OF_LOGS))
        assert told.outcome is NOT_APPLICABLE, told.not_judged


def test_a_single_master_without_a_mirror_that_may_be_one_is_down_until_somebody_acts() -> None:
    alone = {**OF_LOGS, "masters": 1}
    down = Story(**alone).stage("sustained_success", 20.0)
    assert verdict("single-master-is-down", down).outcome is PASS
    assert verdict("single-master-is-down", Story(**alone)).outcome is FAIL
    for claim in ("mirror-takes-over", "mirrored-queue-works-on"):
        told = verdict(claim, down)
        assert told.outcome is NOT_APPLICABLE, claim
        assert "elects == true: false" in told.not_judged
    operated = Story(**alone, operations=1)
    assert verdict("single-master-is-down", operated).outcome is NOT_APPLICABLE


@pytest.mark.parametrize(
    ("after", "reached", "lasts", "outcome"),
    [
        (23.0, True, 40, PASS),
        (23.1, True, 40, INCONCLUSIVE),  # confirmed perhaps a deadline of 2 s later
        (25.01, True, 40, INCONCLUSIVE),  # the fault took 0.02 s to make
        (25.1, True, 40, FAIL),
        (40.0, False, 40, FAIL),
        (24.0, False, 40, INCONCLUSIVE),  # the load ended before
        (12.0, True, 10, INCONCLUSIVE),  # of a fault that was over before
        (24.9, True, 26, INCONCLUSIVE),  # whose end was in time for it, too
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


@pytest.mark.parametrize(("after", "outcome"), [(2.9, PASS), (3.1, INCONCLUSIVE), (5.1, FAIL)])
def test_broken_links_are_noticed_by_the_next_poll(after: float, outcome: Outcome) -> None:
    story = Story(**OF_LOGS).stage("sustained_success", after)
    told = verdict("broken-links-are-noticed-soon", story)
    assert told.outcome is outcome
    if outcome is not INCONCLUSIVE:
        assert "the bound is 5 s" in told.judged[0]


def silent_for(seconds: float, after: float, owed: Owed) -> Story:
    story = Story("freeze", **OF_LOGS).calm().window(1, "freeze", lasts=seconds)
    return story.stage("first_success", 0.1).stage("sustained_success", after, owed=owed)


def test_clients_that_are_blind_until_the_end_are_blind() -> None:
    """What they send in the last seconds is confirmed in time, but for the fault's end."""
    blind = silent_for(45, 42.8, Owed.UNDO)
    told = verdict("silent-name-server-blinds-its-clients", blind)
    assert told.outcome is PASS
    assert "after 42.800 s of a fault of 45.0 s, whose end it waited for" in told.judged[0]
    for claim in ("other-masters-take-over", "silent-broker-is-noticed-in-time"):
        assert verdict(claim, blind).outcome is FAIL, claim


def test_success_that_either_may_have_brought_refutes_nobody_and_proves_nothing() -> None:
    story = silent_for(45, 43.4, Owed.EITHER)
    for claim in ("silent-name-server-blinds-its-clients", "other-masters-take-over"):
        assert verdict(claim, story).outcome is INCONCLUSIVE, claim


@pytest.mark.parametrize(
    ("lasts", "outcome"), [(27.1, FAIL), (27.0, INCONCLUSIVE), (20.0, INCONCLUSIVE)]
)
def test_a_broker_whose_fault_ended_before_the_bound_was_not_noticed_too_late(
    lasts: float, outcome: Outcome
) -> None:
    story = silent_for(lasts, lasts - 2.2, Owed.UNDO)
    assert verdict("silent-broker-is-noticed-in-time", story).outcome is outcome


def test_a_fault_that_ended_long_before_says_so() -> None:
    story = Story("freeze", **OF_LOGS).calm().window(1, "freeze", lasts=10)
    story.stage("sustained_success", 12.0)
    told = verdict("silent-broker-is-noticed-in-time", story)
    assert told.not_judged == (
        "window 1: sustained_success_within_notice == true: the fault was over before",
    )


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


def test_order_that_was_promised_and_held_refutes_that_a_switch_breaks_it() -> None:
    claim = "order-breaks-at-a-switch"
    assert verdict(claim, Story(**OF_LOGS)).outcome is FAIL
    broken = Story(**OF_LOGS).count("reordered", "", 135)
    assert verdict(claim, broken).outcome is PASS
    unordered = Story(**OF_LOGS).count("not_judged", "not_promised", 21_400)
    del unordered.counts["in_order", ""]
    assert verdict(claim, unordered).outcome is NOT_APPLICABLE


def test_a_slave_that_dies_is_judged_by_who_has_nothing_to_do_with_it() -> None:
    away = {"publishers_entered_at_target": False, "consumers_entered_at_target": False}
    slave = {**OF_LOGS, **away, "fault_target_role": "mirror"}
    assert verdict("mirror-failure-harms-nobody", Story(**slave)).outcome is FAIL, "12 missed"
    unharmed = Story(**slave).missed(0)
    assert verdict("mirror-failure-harms-nobody", unharmed).outcome is PASS


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
    silent = Story("kill", **every).stage("consumers_resumed", 48.0, reached=False)
    assert verdict("clients-go-on-without-name-servers", silent).outcome is FAIL
