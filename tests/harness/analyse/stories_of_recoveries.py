"""Hosts that were all down, and came back."""

from tests.harness.analyse.claim_stories import (
    Three,
    recovered,
)
from tests.harness.analyse.judging import INCONCLUSIVE, NOT_APPLICABLE

STORIES: dict[str, Three] = {
    "last-stopped-starts-first": Three(
        recovered,
        lambda: recovered(queues_have_masters=False),
        lambda: recovered(started_first="other"),
        (NOT_APPLICABLE, "started_first == last stopped"),
    ),
    "first-stopped-waits": Three(
        lambda: recovered(started_first="first stopped"),
        lambda: recovered(started_first="first stopped").count("lost", "stored", 3),
        lambda: recovered(started_first="first stopped", lost_disk="last stopped"),
        (NOT_APPLICABLE, "lost_disk == none"),
    ),
    "all-at-once-come-back": Three(
        lambda: recovered(all_stopped="at once"),
        lambda: recovered(all_stopped="at once").count("stranded", "stored", 3),
        lambda: recovered(all_stopped="at once", queues_have_masters=None),
        (INCONCLUSIVE, "queues_have_masters: it was not recorded"),
    ),
    "first-stopped-can-be-replaced": Three(
        lambda: recovered(lost_disk="first stopped", node_forgotten="online"),
        lambda: recovered(
            lost_disk="first stopped", node_forgotten="online", queues_have_masters=False
        ),
        lambda: recovered(lost_disk="first stopped"),
        (NOT_APPLICABLE, "node_forgotten == online"),
    ),
    "last-stopped-can-be-replaced": Three(
        lambda: recovered(lost_disk="last stopped", node_forgotten="offline"),
        lambda: recovered(
            lost_disk="last stopped", node_forgotten="offline", queues_have_masters=False
        ),
        lambda: recovered(lost_disk="last stopped", queues_have_masters=False),
        (NOT_APPLICABLE, "node_forgotten == offline"),
    ),
    "nothing-comes-of-no-disk": Three(
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
