"""Claims about queues of several masters, and clients that ask name servers."""

from dataclasses import replace

import pytest

from harness.claims.judge import ClaimOutcome, judge
from tests.harness.claims.judging import (
    CLAIMS,
    FAIL,
    INCONCLUSIVE,
    NOT_APPLICABLE,
    PASS,
    outcomes,
    verdict,
)
from tests.rigs.runs.findings import OF_LOGS, Story


def test_queue_with_several_masters_has_no_mirror_that_takes_over() -> None:
    judged = outcomes(Story(**OF_LOGS))
    for claim in ("mirror-takes-over", "oldest-mirror-takes-over", "mirrored-queue-works-on"):
        assert judged[claim] is NOT_APPLICABLE, claim
    assert judged["election-loses-nothing"] is NOT_APPLICABLE, "there is no election"
    rejoined = verdict("rejoined-node-starts-empty", Story("freeze", **OF_LOGS))
    assert rejoined.outcome is NOT_APPLICABLE, "it is the master still, with all that it held"
    assert judged["other-masters-take-over"] is PASS
    assert judged["broken-links-are-noticed-soon"] is PASS
    assert judged["confirmed-is-on-all-mirrors"] is NOT_APPLICABLE, "no slave is read as master"
    assert judged["any-node-reaches-any-queue"] is NOT_APPLICABLE, "clients ask name servers"
    assert judged["queue-is-first-in-first-out"] is NOT_APPLICABLE, "it has two masters"


def test_confirms_are_not_judged_by_copies_the_layout_skips() -> None:
    """Judge confirms only by what the layout waits for."""
    async_ = {**OF_LOGS, "confirm_waits_for_mirrors": False}
    judged = outcomes(Story(**async_))
    assert judged["confirmed-is-on-all-mirrors"] is NOT_APPLICABLE
    assert judged["confirmed-is-on-disk"] is NOT_APPLICABLE
    assert judged["confirmed-in-memory-is-kept"] is PASS
    lost = outcomes(Story(**async_).count("lost", "buffered", 1))
    assert lost["confirmed-in-memory-is-kept"] is FAIL
    flushed = outcomes(Story(**{**OF_LOGS, "confirm_waits_for_disk": True}))
    assert flushed["confirmed-is-on-disk"] is NOT_APPLICABLE, "a killed process tests no disk"
    assert flushed["confirmed-in-memory-is-kept"] is NOT_APPLICABLE


def test_questions_unknown_to_every_client_of_a_run_are_omitted() -> None:
    """Only AMQP consumers are promised a notice about a new master."""
    for claim in ("unnotified-consumer-waits-forever", "host-list-fails-over"):
        judged = verdict(claim, Story(**OF_LOGS))
        assert judged.outcome is NOT_APPLICABLE, judged.not_judged


def test_single_master_without_promotable_mirror_is_unavailable_until_repaired() -> None:
    alone = {**OF_LOGS, "masters": 1}
    down = Story(**alone).service("out", ended="undo")
    assert verdict("single-master-is-down", down).outcome is PASS
    assert verdict("single-master-is-down", Story(**alone)).outcome is FAIL
    for claim in ("mirror-takes-over", "mirrored-queue-works-on"):
        judged = verdict(claim, down)
        assert judged.outcome is NOT_APPLICABLE, claim
        none = "a mirror can become master by itself: no; the claim applies only if this is: yes"
        assert f"{none} (`elects == true`)" in judged.not_judged
    operated = Story(**alone, operations=1)
    assert verdict("single-master-is-down", operated).outcome is NOT_APPLICABLE


# Whom the clients ask stands elsewhere, and lives.
LIVELY = {**OF_LOGS, "name_servers_at_target": 0, "publishers_attached_to_target": 0}


@pytest.mark.parametrize(
    ("kind", "promise", "claim"),
    [
        ("freeze", "notice", "silent-broker-is-noticed-in-time"),
        ("kill", "poll", "broken-links-are-noticed-soon"),
    ],
)
def test_a_promise_of_time_is_judged_from_that_time_on(
    kind: str, promise: str, claim: str
) -> None:
    later = {"served": PASS, "out": FAIL, "open": INCONCLUSIVE, "few": INCONCLUSIVE}
    for found, outcome in later.items():
        story = Story(kind, **LIVELY).service(found, promise=promise)
        assert verdict(claim, story).outcome is outcome, found
    before = Story(kind, **LIVELY).service("out", promise="fault", ended="system")
    assert verdict(claim, before).outcome is PASS, "until then nothing was promised"


def test_a_promise_without_a_declared_time_is_not_judged() -> None:
    for timer in ("detection_timeout_s", "route_poll_s"):
        judged = verdict(
            "silent-broker-is-noticed-in-time", Story("freeze", **{**LIVELY, timer: None})
        )
        assert judged.outcome is INCONCLUSIVE
        assert f"{timer}: it was not recorded" in judged.not_judged[0]


def test_clients_that_are_blind_until_the_end_are_blind() -> None:
    blind = Story("freeze", **OF_LOGS).service("out", ended="undo")
    blind.service("out", promise="notice")
    judged = verdict("silent-name-server-hides-failures", blind)
    assert judged.outcome is PASS
    assert judged.judged == (
        "fault 1: clients were served while the fault was active: no (the cluster as a whole was "
        "unavailable for 15.0 s, until the fault's end); the warning predicts: no "
        "(`available_during_fault == false`)",
    )
    assert verdict("other-masters-take-over", blind).outcome is FAIL
    noticed = verdict("silent-broker-is-noticed-in-time", blind)
    assert noticed.outcome is NOT_APPLICABLE, "the article tells why: their name server is silent"


def test_recovery_of_unknown_origin_neither_refutes_nor_proves() -> None:
    story = Story("freeze", **OF_LOGS).service("open", ended="either")
    for claim in ("silent-name-server-hides-failures", "other-masters-take-over"):
        assert verdict(claim, story).outcome is INCONCLUSIVE, claim


def test_name_server_freeze_is_judged_only_by_its_own_clients() -> None:
    claim = "silent-name-server-hides-failures"
    assert verdict(claim, Story("freeze", **OF_LOGS)).outcome is FAIL
    blind = Story("freeze", **OF_LOGS).service("out", ended="undo")
    assert verdict(claim, blind).outcome is PASS
    others = Story("freeze", **{**OF_LOGS, "publishers_attached_to_target": 0})
    assert verdict(claim, others).outcome is NOT_APPLICABLE
    unknown = Story("freeze", **{**OF_LOGS, "publishers_attached_to_target": None})
    assert verdict(claim, unknown).outcome is INCONCLUSIVE
    apart = Story("freeze", **{**OF_LOGS, "name_servers_at_target": 0})
    assert verdict(claim, apart).outcome is NOT_APPLICABLE
    assert verdict("separate-name-servers-help", apart).outcome is PASS


def test_order_kept_at_one_switch_refutes_no_warning() -> None:
    claim = "order-breaks-at-a-switch"
    held = verdict(claim, Story(**OF_LOGS))
    assert held.outcome is INCONCLUSIVE
    assert "refutes no sentence about some cases" in held.not_judged[0]
    broken = Story(**OF_LOGS).count("reordered", "", 135)
    assert verdict(claim, broken).outcome is PASS
    unordered = Story(**OF_LOGS).count("not_judged", "not_promised", 21_400)
    unordered.without("in_order")
    assert verdict(claim, unordered).outcome is NOT_APPLICABLE


def test_slave_death_is_judged_by_its_unconnected_clients() -> None:
    away = {"publishers_connected_to_target": False, "consumers_connected_to_target": False}
    slave = {**OF_LOGS, **away, "fault_target_role": "mirror"}
    assert verdict("mirror-failure-affects-own-clients", Story(**slave)).outcome is FAIL, (
        "12 missed"
    )
    unharmed = Story(**slave).missed(0)
    assert verdict("mirror-failure-affects-own-clients", unharmed).outcome is PASS


def test_claims_about_mirrors_do_not_apply_to_slaves() -> None:
    one = Story(**{**OF_LOGS, "masters": 1})
    assert verdict("masters-clients-are-cut-off", one).outcome is NOT_APPLICABLE
    unconfirmed = Story(**OF_LOGS, confirms=False).count("lost_indeterminate", "", 19)
    judged = verdict("unconfirmed-survive-an-election", unconfirmed)
    assert judged.outcome is NOT_APPLICABLE, "there is no election"


@pytest.mark.parametrize(
    ("kind", "role", "outcome"),
    [
        ("kill", "master", FAIL),
        ("kill", "mirror", NOT_APPLICABLE),
        ("kill", "name server", NOT_APPLICABLE),
        ("hang", "master", NOT_APPLICABLE),
    ],
)
def test_only_a_master_that_ended_can_lose_its_memory(
    kind: str, role: str, outcome: ClaimOutcome
) -> None:
    story = Story(kind, **{**OF_LOGS, "fault_target_role": role}).count("lost", "buffered", 1)
    assert verdict("confirmed-in-memory-is-kept", story).outcome is outcome


@pytest.mark.parametrize(
    ("judged", "outcome"), [(True, PASS), (False, FAIL), (None, INCONCLUSIVE)]
)
def test_a_remaining_name_server_must_serve_routes(
    judged: bool | None, outcome: ClaimOutcome
) -> None:
    of_one = {**OF_LOGS, "fault_target_role": "name server", "routes_served_meanwhile": judged}
    assert verdict("one-name-server-is-enough", Story(**of_one)).outcome is outcome


def test_running_clients_do_not_notice_failed_name_servers() -> None:
    one = {**OF_LOGS, "fault_target_role": "name server", "routes_served_meanwhile": True}
    judged = outcomes(Story("kill", **one))
    assert judged["one-name-server-is-enough"] is PASS
    assert judged["clients-go-on-without-name-servers"] is NOT_APPLICABLE
    assert judged["old-routes-work-on"] is NOT_APPLICABLE
    assert outcomes(Story("freeze", **one))["old-routes-work-on"] is PASS
    every = {**one, "name_servers_at_target": 2, "name_servers_left": 0}
    judged = outcomes(Story("kill", **every))
    assert judged["one-name-server-is-enough"] is NOT_APPLICABLE
    assert judged["clients-go-on-without-name-servers"] is PASS
    silent = Story("kill", **every).silent_consumer()
    assert verdict("clients-go-on-without-name-servers", silent).outcome is FAIL


def test_message_late_before_a_master_death_shows_no_delay() -> None:
    claim = "dead-master-delays-messages"
    late = Story(**OF_LOGS).count("delayed", "", 700).count("overdue", "", 93, windows="")
    assert verdict(claim, late).outcome is INCONCLUSIVE
    assert verdict(claim, late.count("overdue", "", 1, windows="1")).outcome is PASS


IN_SYNC = {
    **OF_LOGS,
    "masters": 1,
    "elects": True,
    "elects_by_majority": False,
    "promote_on_failure": "when-synced",
    "promote_on_shutdown": "when-synced",
}


@pytest.mark.parametrize(
    ("status", "in_sync", "delivered"),
    [("replicated", FAIL, FAIL), ("flush_slave_timeout", PASS, FAIL)],
)
def test_a_confirm_with_a_warning_does_not_promise_replication(
    status: str, in_sync: ClaimOutcome, delivered: ClaimOutcome
) -> None:
    """A loss all the same: the status says that the broker has it."""
    story = Story("partition", **IN_SYNC).count("confirmed", status, 21_400)
    judged = outcomes(story.count("lost", status, 3_603))
    assert judged["in-sync-is-not-lost"] is in_sync
    assert judged["confirmed-is-delivered"] is delivered


def test_confirms_with_warnings_prove_nothing_about_those_without() -> None:
    story = Story("partition", **IN_SYNC).count("confirmed", "flush_slave_timeout", 21_400)
    story.count("confirmed", "replicated", 99)
    one = verdict("in-sync-is-not-lost", story)
    assert one.outcome is INCONCLUSIVE
    assert one.not_judged[0] == (
        "0 of 99 confirmed messages were lost (confirmed by all required replicas); uncertain, "
        "because there were only 99 confirmed messages, and 100 are needed "
        "(`lost.replicated == 0`)"
    )


def test_failed_sends_stand_beside_service_after_a_poll() -> None:
    story = Story(**OF_LOGS)
    evidence = replace(story.evidence, failed_sends={1: "168 attempts to send failed"})
    one = judge(CLAIMS["broken-links-are-noticed-soon"], evidence)
    assert one.outcome is PASS
    assert "1 publisher; 168 attempts to send failed)" in one.judged[0]
    other = judge(CLAIMS["other-masters-take-over"], evidence)
    assert "168 attempts" not in " ".join(other.judged)
