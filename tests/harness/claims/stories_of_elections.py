"""Groups of brokers whose master is elected: by their members, or by controllers."""

from tests.harness.claims.claim_stories import Three, lost, out, story_of
from tests.harness.claims.judging import NOT_APPLICABLE
from tests.rigs.runs.findings import OF_LOGS, Story

VOTING = {
    **OF_LOGS,
    "copies": 3,
    "masters": 1,
    "elects": True,
    "elects_by_majority": True,
    "confirm_waits_for_majority": True,
    "confirm_waits_for_mirrors": False,
    "mirrors_at_fault": 2,
    "synchronised_mirrors_at_fault": 2,
    "promoted_mirror_rank": 1,
}
ONE_LEFT = {**VOTING, "mirrors_at_fault": 1, "synchronised_mirrors_at_fault": 1}
CONTROLLED = {
    **OF_LOGS,
    "masters": 1,
    "elects": True,
    "elects_by_majority": False,
    "promote_on_failure": "when-synced",
    "promote_on_shutdown": "when-synced",
    "promoted_mirror_rank": 1,
}
BEHIND = {**CONTROLLED, "synchronised_mirrors_at_fault": 0}
PAIR_OF_BROKERS = {
    **CONTROLLED,
    "copies": 2,
    "mirrors_at_fault": 1,
    "synchronised_mirrors_at_fault": 1,
}
UNCLEAN = {**CONTROLLED, "promote_on_failure": "always"}
OF_CONTROLLERS = {**CONTROLLED, "fault_target_role": "name server", "name_servers_left": 0}


def waiting() -> Story:
    """Delayed messages and transactions of both fates."""
    story = story_of(**CONTROLLED).count("delayed", "", 700).count("could_show", "early", 700)
    for fate, shown in (("commit", "torn_transaction"), ("rollback", "rolled_back_but_delivered")):
        story.count("transactions", fate, 500).count("could_show", shown, 500)
    return story


STORIES: dict[str, Three] = {
    "leader-dies-follower-leads": Three(
        lambda: story_of(**VOTING),
        lambda: out(**VOTING),
        lambda: out(**ONE_LEFT),
        (NOT_APPLICABLE, "majority_left == true"),
    ),
    "killed-leader-is-replaced-in-seconds": Three(
        lambda: story_of(**VOTING).silence(3.9),
        lambda: story_of(**VOTING).silence(13.0),
        lambda: story_of(**ONE_LEFT).silence(13.0),
        (NOT_APPLICABLE, "majority_left == true"),
    ),
    "one-failure-of-three-is-tolerated": Three(
        lambda: story_of(**VOTING),
        lambda: lost(**VOTING),
        lambda: out(**ONE_LEFT),
        (NOT_APPLICABLE, "majority_left == true"),
    ),
    "controllers-switch-the-master": Three(
        lambda: story_of("freeze", **CONTROLLED),
        lambda: out("freeze", **CONTROLLED),
        lambda: out("freeze", **BEHIND),
        (NOT_APPLICABLE, "every_mirror_synchronised == true"),
    ),
    "two-replicas-are-enough": Three(
        lambda: story_of(**PAIR_OF_BROKERS),
        lambda: out(**PAIR_OF_BROKERS),
        lambda: out(**{**PAIR_OF_BROKERS, "copies": 3}),
        (NOT_APPLICABLE, "copies == 2"),
    ),
    "switch-keeps-order": Three(
        lambda: story_of(**CONTROLLED),
        lambda: story_of(**CONTROLLED).count("reordered", "", 3),
        lambda: story_of(**BEHIND).count("reordered", "", 3),
        (NOT_APPLICABLE, "every_mirror_synchronised == true"),
    ),
    "switch-keeps-delayed-messages": Three(
        waiting,
        lambda: waiting().count("torn_transaction", "stored", 1),
        lambda: story_of(**CONTROLLED),
        (NOT_APPLICABLE, "no message was delayed"),
    ),
    "in-sync-is-not-lost": Three(
        lambda: story_of(**CONTROLLED),
        lambda: lost(**CONTROLLED),
        lambda: lost(**UNCLEAN),
        (NOT_APPLICABLE, "promote_on_failure == when-synced"),
    ),
    "unclean-election-loses": Three(
        lambda: lost(**UNCLEAN),
        lambda: story_of(**UNCLEAN),
        lambda: lost(**CONTROLLED),
        (NOT_APPLICABLE, "promote_on_failure == always"),
    ),
    "without-controllers-masters-go-on": Three(
        lambda: story_of(**OF_CONTROLLERS),
        lambda: out(**OF_CONTROLLERS),
        lambda: out(**{**OF_CONTROLLERS, "elects": False}),
        (NOT_APPLICABLE, "elects == true"),
    ),
}
