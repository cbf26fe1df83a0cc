"""Operators at work, and hosts that were all down and came back."""

from tests.harness.claims.claim_stories import (
    Three,
    calmly,
    joined,
    recovered,
    waited,
)
from tests.harness.claims.judging import NOT_APPLICABLE

STORIES: dict[str, Three] = {
    "synchronising-blocks-the-queue": Three(
        lambda: calmly(operations=1, stood_still_synchronising=True),
        lambda: calmly(operations=1, stood_still_synchronising=False),
        lambda: calmly(
            operations=1, stood_still_synchronising={"not_applicable": "it took no second"}
        ),
        (NOT_APPLICABLE, "it took no second"),
    ),
    "last-stopped-starts-first": Three(
        recovered,
        lambda: recovered(queues_have_masters=False),
        lambda: recovered(started_first="other"),
        (NOT_APPLICABLE, "started_first == last stopped"),
    ),
    "first-stopped-waits": Three(
        lambda: waited(6),
        lambda: waited(30).count("lost", "stored", 3),
        lambda: waited(31).count("lost", "stored", 3),  # the article gives it 30 s
        (NOT_APPLICABLE, "waited_for_last_s <= 30"),
    ),
    "waiting-node-gives-up": Three(
        lambda: waited(45, gave_up=True),
        lambda: waited(45),
        lambda: waited(39.9),
        (NOT_APPLICABLE, "waited_for_last_s >= 40"),
    ),
    "new-node-gets-a-mirror": Three(
        lambda: joined(3),
        lambda: joined(2),
        lambda: joined(2, mirrored_on="exactly"),
        (NOT_APPLICABLE, "mirrored_on == all"),
    ),
    "all-at-once-come-back": Three(
        lambda: recovered(all_stopped="at once"),
        lambda: recovered(all_stopped="at once").count("stranded", "stored", 3),
        lambda: recovered(all_stopped="at once", started_within_s=31, queues_have_masters=False),
        (NOT_APPLICABLE, "started_within_s <= 30"),
    ),
    "first-stopped-can-be-replaced": Three(
        lambda: recovered(lost_disk="first stopped", node_removed="online"),
        lambda: recovered(
            lost_disk="first stopped", node_removed="online", queues_have_masters=False
        ),
        lambda: recovered(lost_disk="first stopped"),
        (NOT_APPLICABLE, "node_removed == online"),
    ),
    "last-stopped-can-be-replaced": Three(
        lambda: recovered(lost_disk="last stopped", node_removed="offline"),
        lambda: recovered(
            lost_disk="last stopped", node_removed="offline", queues_have_masters=False
        ),
        lambda: recovered(lost_disk="last stopped", queues_have_masters=False),
        (NOT_APPLICABLE, "node_removed == offline"),
    ),
    "lost-disks-lose-the-queue": Three(
        lambda: recovered(lost_disk="all", queues_have_masters=False),
        lambda: recovered(lost_disk="all"),
        recovered,
        (NOT_APPLICABLE, "lost_disk == all"),
    ),
    "restarted-node-discards-its-disk": Three(
        lambda: recovered().count("lost", "stored", 3),
        recovered,
        lambda: recovered(consumers=1, acknowledges=True),
        (NOT_APPLICABLE, "consumers == 0"),
    ),
}
