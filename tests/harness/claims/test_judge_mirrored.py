"""Claims about mirrored queues: masters and mirrors that die, stop, freeze or come late."""

import pytest

from harness.claims.judge import ClaimOutcome
from harness.claims.state import KnownFacts
from harness.claims.values import Unknown
from tests.harness.claims.judging import (
    FAIL,
    INCONCLUSIVE,
    NOT_APPLICABLE,
    OF_EVERY_BROKER,
    PASS,
    outcomes,
    verdict,
)
from tests.rigs.runs.findings import OF_LOGS, Story


def test_mirrored_queue_master_kill_is_judged_as_measured() -> None:
    found = outcomes(Story().count("duplicated", "redelivery", 30))
    judged = {name: one for name, one in found.items() if one is not NOT_APPLICABLE}
    assert judged == {
        **dict.fromkeys(OF_EVERY_BROKER, PASS),
        "available-after-fault": PASS,
        "consumed-after-fault": PASS,
        "mirror-takes-over": PASS,
        "oldest-mirror-takes-over": PASS,
        "election-loses-nothing": PASS,
        "mirrored-queue-works-on": PASS,
        "duplicates-are-requeued": PASS,
        "masters-clients-are-cut-off": PASS,
        "unnotified-consumer-waits-forever": FAIL,
        "host-list-fails-over": PASS,
        "queue-is-first-in-first-out": PASS,
    }
    assert found["confirmed-is-on-disk"] is NOT_APPLICABLE, "a killed process tests no disk"
    assert found["confirmed-is-on-all-mirrors"] is NOT_APPLICABLE, "one of two mirrors was read"


def test_unmirrored_queue_host_kill_is_judged_as_measured() -> None:
    story = Story(mirrors_at_fault=0, synchronised_mirrors_at_fault=0, copies=1)
    found = outcomes(story.service("out", ended="undo"))
    assert {
        name: found[name] for name in ("unmirrored-queue-is-down", "durable-queue-returns")
    } == {
        "unmirrored-queue-is-down": PASS,
        "durable-queue-returns": PASS,
    }
    assert found["mirror-takes-over"] is NOT_APPLICABLE
    assert found["confirmed-is-delivered"] is PASS


def test_service_by_a_stopping_host_is_no_availability() -> None:
    story = Story("stop", mirrors_at_fault=0, synchronised_mirrors_at_fault=0, copies=1)
    story.stage("first_success", 0.05).service("out", ended="undo")
    assert outcomes(story)["unmirrored-queue-is-down"] is PASS


def late_mirror(master_falls_by: str = "kill", consumers: int = 0) -> Story:
    """A mirror is killed and returns with nothing; then the master goes."""
    second = {
        "fault_target_role": "master",
        "mirrors_at_fault": 1,
        "synchronised_mirrors_at_fault": 0,
        "publishers_connected_to_target": False,
        "consumers_connected_to_target": False,
        "promoted_mirror_rank": 1,
    }
    story = Story(
        fault_target_role="mirror",
        copies=2,
        consumers=consumers,
        acknowledges=consumers > 0,
        faults=2,
        publishers_connected_to_target=False,
        windows={"2": second},
    )
    return story.window(2, master_falls_by, opens=32)


def test_messages_absent_from_a_late_mirror_die_with_the_master() -> None:
    story = late_mirror().count("lost", "replicated", 1_056, windows="2")
    found = outcomes(story)
    assert found["unsynchronised-messages-are-lost"] is PASS
    assert found["crash-promotes-any-mirror"] is PASS
    assert found["oldest-mirror-takes-over"] is NOT_APPLICABLE, "the article assumes a full one"
    assert found["confirmed-is-delivered"] is FAIL
    assert found["mirrored-queue-works-on"] is FAIL, "it lost data, though no consumer ran"
    # These promise something of mirrors that hold everything; that of the first window did, but
    # it was no master that failed there.
    assert found["election-loses-nothing"] is NOT_APPLICABLE
    assert found["confirmed-is-on-all-mirrors"] is NOT_APPLICABLE
    # The loss is not the first fault's, and no consumer ran.
    assert found["mirror-failure-affects-own-clients"] is NOT_APPLICABLE
    assert found["unnotified-consumer-waits-forever"] is NOT_APPLICABLE


def test_a_late_mirror_that_loses_nothing_contradicts_what_was_said() -> None:
    found = outcomes(late_mirror())
    assert found["unsynchronised-messages-are-lost"] is FAIL
    # No consumer ran, so it is unknown whether the queue worked on.
    assert found["mirrored-queue-works-on"] is NOT_APPLICABLE


def test_queue_waits_for_a_stopped_master_without_synchronised_mirror() -> None:
    found = outcomes(late_mirror("stop").service("out", window=2, ended="undo"))
    assert found["stop-promotes-no-empty-mirror"] is PASS
    assert found["unsynchronised-messages-are-lost"] is NOT_APPLICABLE
    assert outcomes(late_mirror("stop"))["stop-promotes-no-empty-mirror"] is FAIL


@pytest.mark.parametrize("kind", ["stop", "freeze"])
def test_stopped_or_frozen_master_is_judged_like_a_crashed_one(kind: str) -> None:
    found = outcomes(Story(kind, copies=2, mirrors_at_fault=1, synchronised_mirrors_at_fault=1))
    for claim in (
        "confirmed-is-on-all-mirrors",
        "mirror-takes-over",
        "oldest-mirror-takes-over",
        "mirrored-queue-works-on",
    ):
        assert found[claim] is PASS, claim


def test_client_that_knows_only_the_failed_host_proves_no_takeover() -> None:
    alone = {"mirrors_at_fault": 1, "synchronised_mirrors_at_fault": 1}
    found = outcomes(Story(client_endpoint="one", **alone).service("out", ended="undo"))
    for claim in ("mirror-takes-over", "mirrored-queue-works-on"):
        assert found[claim] is NOT_APPLICABLE, claim
    assert found["confirmed-is-on-all-mirrors"] is PASS


def test_older_runs_without_a_recorded_endpoint_used_a_host_list() -> None:
    old = KnownFacts.from_json({"copies": 3, "windows": {"1": {"fault_kind": "kill"}}})
    assert old.value("client_endpoint", 1) == "hosts"
    assert KnownFacts.from_json({"client_endpoint": "one"}).value("client_endpoint", 1) == "one"
    assert isinstance(KnownFacts.from_json({}).value("client_endpoint", 1), Unknown)
    assert old.value("elects", 1) is True
    slaves = KnownFacts.from_json({"promote_on_failure": "never", "windows": {}})
    assert slaves.value("elects", 1) is False


def test_older_runs_without_recorded_masters_had_one_unless_never_promoted() -> None:
    old = Story()
    del old.state["masters"]
    assert verdict("mirror-takes-over", old).outcome is PASS
    of_logs = Story(**OF_LOGS).service("out")
    del of_logs.state["masters"]
    assert verdict("single-master-is-down", of_logs).outcome is INCONCLUSIVE


def a_mirrors_crash(missed: int = 0, **state: object) -> Story:
    away = {"publishers_connected_to_target": False, "fault_target_role": "mirror"}
    return Story(**(away | state)).missed(missed)


def test_a_mirror_crash_affects_only_its_own_clients() -> None:
    claim = "mirror-failure-affects-own-clients"
    assert verdict(claim, a_mirrors_crash()).outcome is PASS
    assert verdict(claim, a_mirrors_crash(missed=1)).outcome is FAIL
    assert verdict(claim, a_mirrors_crash().count("duplicated", "redelivery", 1)).outcome is FAIL
    entered = a_mirrors_crash(missed=1, publishers_connected_to_target=True)
    assert verdict(claim, entered).outcome is NOT_APPLICABLE
    operated = a_mirrors_crash(missed=1, operations=1)
    assert verdict(claim, operated).outcome is NOT_APPLICABLE, "the operation may be why"


@pytest.mark.parametrize(
    ("synchronised", "outcome"), [(2, FAIL), (1, NOT_APPLICABLE), (0, NOT_APPLICABLE)]
)
def test_messages_never_copied_to_a_mirror_prove_no_acceptance_error(
    synchronised: int, outcome: ClaimOutcome
) -> None:
    story = Story(synchronised_mirrors_at_fault=synchronised).count("lost", "replicated", 3)
    assert verdict("confirmed-is-on-all-mirrors", story).outcome is outcome


def test_queue_configured_to_wait_for_its_master_blames_no_endpoint() -> None:
    empty = {"synchronised_mirrors_at_fault": 0}
    for claim, client_endpoint in (
        ("host-list-fails-over", "hosts"),
        ("balancer-avoids-dead-nodes", "haproxy"),
    ):
        story = Story("stop", client_endpoint=client_endpoint, **empty).service(
            "out", ended="undo"
        )
        assert verdict(claim, story).outcome is NOT_APPLICABLE, claim


@pytest.mark.parametrize(
    ("moved", "served", "outcome"),
    [
        (True, "out", PASS),  # rqq3 refused all publishes for a minute: that is no client's fault
        (True, "open", PASS),
        (None, "served", PASS),  # by another host, for the first one was dead
        (None, "out", INCONCLUSIVE),
        (None, "open", INCONCLUSIVE),
        (False, "out", FAIL),
    ],
)
def test_library_fails_over_if_its_clients_connect_to_another_host(
    moved: bool | None, served: str, outcome: ClaimOutcome
) -> None:
    story = Story(publishers_of_target_moved=moved).service(served, ended="undo")
    assert verdict("host-list-fails-over", story).outcome is outcome


def test_service_of_a_silent_host_shows_no_other_connection() -> None:
    story = Story("freeze", publishers_of_target_moved=None)
    value = story.evidence.claimed("publishers_of_target_moved", 1)
    assert value == Unknown("publishers_of_target_moved: it was not recorded")


def test_behind_a_balancer_no_client_is_connected_to_the_master() -> None:
    balanced = Story(client_endpoint="haproxy", clients_of_target_cut_off=None)
    assert verdict("masters-clients-are-cut-off", balanced).outcome is NOT_APPLICABLE


def test_a_queue_that_could_not_be_promoted_owes_no_notice() -> None:
    story = Story("stop", synchronised_mirrors_at_fault=0).silent_consumer()
    assert verdict("unnotified-consumer-waits-forever", story).outcome is NOT_APPLICABLE


def test_always_promoting_is_dangerous_with_a_fixed_number_of_mirrors() -> None:
    always = {"promote_on_shutdown": "always", "synchronised_mirrors_at_fault": 0}
    for on, outcome in (("exactly", PASS), ("all", NOT_APPLICABLE)):
        story = Story("stop", mirrored_on=on, **always).count("lost", "replicated", 3)
        assert verdict("always-promoting-loses", story).outcome is outcome


def test_durable_queue_must_serve_again_even_with_transient_messages() -> None:
    story = Story(persistent=False).service("out", promise="healed")
    assert verdict("available-after-fault", story).outcome is FAIL
