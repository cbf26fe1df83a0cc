"""Claims about hosts that go and come back together, in whatever order."""

from dataclasses import replace

import pytest

from harness.claims.judge import ClaimOutcome
from tests.harness.claims.judging import (
    FAIL,
    INCONCLUSIVE,
    NOT_APPLICABLE,
    PASS,
    RECOVERIES,
    outcomes,
    verdict,
)
from tests.rigs.runs.findings import Story


def recovered(**state: object) -> Story:
    """Every host was stopped in turn and started again, the last one first; no consumer ran."""
    usual: dict[str, object] = {
        "operations": 5,
        "faults": 0,
        "consumers": 0,
        "all_stopped": "in turn",
        "started_first": "last stopped",
        "started_within_s": 9.0,
        "waited_for_last_s": 6.0,
        "lost_disk": "none",
        "node_removed": "none",
        "queues_have_masters": True,
        "mirrors_after_operations": 2,
    }
    return Story(**(usual | state)).steady()


@pytest.mark.parametrize(
    ("state", "applies"),
    [
        ({}, {"last-stopped-starts-first": PASS, "restarted-node-discards-its-disk": FAIL}),
        ({"started_first": "first stopped"}, {"first-stopped-waits": PASS}),
        ({"all_stopped": "at once", "started_first": "other"}, {"all-at-once-come-back": PASS}),
        ({"queues_have_masters": False}, {"last-stopped-starts-first": FAIL}),
        ({"queues_have_masters": None}, {"last-stopped-starts-first": INCONCLUSIVE}),
        (
            {"lost_disk": "first stopped", "node_removed": "online"},
            {"first-stopped-can-be-replaced": PASS, "last-stopped-starts-first": NOT_APPLICABLE},
        ),
        (
            {"lost_disk": "last stopped", "node_removed": "offline"},
            {"last-stopped-can-be-replaced": PASS, "last-stopped-starts-first": NOT_APPLICABLE},
        ),
        (
            {"lost_disk": "all", "queues_have_masters": False},
            {"lost-disks-lose-the-queue": PASS},
        ),
        (
            {"all_stopped": "none", "started_first": "none"},
            dict.fromkeys(RECOVERIES, NOT_APPLICABLE),
        ),
    ],
)
def test_each_recovery_is_judged_by_how_hosts_left_and_returned(
    state: dict[str, object], applies: dict[str, ClaimOutcome]
) -> None:
    found = outcomes(recovered(**state))
    assert {name: found[name] for name in applies} == applies


def test_loss_during_a_recovery_refutes_it() -> None:
    story = recovered().count("lost", "replicated", 3)
    assert verdict("last-stopped-starts-first", story).outcome is FAIL
    assert verdict("restarted-node-discards-its-disk", story).outcome is PASS


def test_a_failed_operation_leaves_a_recovery_undecided() -> None:
    story = recovered()
    story.facts = replace(story.facts, clock_problem="operation 4 (start_node all) failed: silent")
    story.doubt("run", "clock")
    one = verdict("last-stopped-starts-first", story)
    assert one.outcome is INCONCLUSIVE
    assert "operation 4 (start_node all) failed: silent" in " ".join(one.not_judged)
