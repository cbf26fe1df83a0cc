"""Queues whose members decide by majority: leaders that fail, followers, and too many of both."""

from tests.harness.claims.claim_stories import AWAY, Three, lost, out, requeued, story_of
from tests.harness.claims.judging import INCONCLUSIVE, NOT_APPLICABLE
from tests.rigs.runs.findings import Story

VOTING = {
    "elects_by_majority": True,
    "confirm_waits_for_majority": True,
    "confirm_waits_for_mirrors": False,
    "synchronised_mirrors_at_fault": {"at_least": 1},
}
ONE_LEFT = {**VOTING, "mirrors_at_fault": 1, "synchronised_mirrors_at_fault": 1}
STREAM = {
    **VOTING,
    "confirm_waits_for_disk": False,
    "progress_kept_by": "clients",
    "detection_timeout_s": 60,
}
FAR = {**VOTING, "publishers_connected_to_target": False}


def cut(seconds: float, **state: object) -> Story:
    return story_of("partition", **{**FAR, **state}).silence(seconds)


STORIES: dict[str, Three] = {
    "majority-keeps-what-was-confirmed": Three(
        lambda: story_of(**VOTING),
        lambda: lost(**VOTING),
        lost,
        (NOT_APPLICABLE, "confirm_waits_for_majority == true"),
    ),
    "confirmed-is-on-a-majority": Three(
        lambda: story_of(**VOTING),
        lambda: lost(**VOTING),
        lambda: story_of(**{**VOTING, "promoted_mirror_rank": None}),
        (INCONCLUSIVE, "another_copy_took_over"),
    ),
    "follower-is-elected": Three(
        lambda: story_of(**VOTING),
        lambda: out(**VOTING),
        lambda: out(**ONE_LEFT),
        (NOT_APPLICABLE, "majority_left == true"),
    ),
    "minority-failure-is-tolerated": Three(
        lambda: story_of(**{**VOTING, **AWAY}),
        lambda: out(**{**VOTING, **AWAY}),
        lambda: out(**{**ONE_LEFT, **AWAY}),
        (NOT_APPLICABLE, "majority_left == true"),
    ),
    "majority-down-is-down": Three(
        lambda: out(**ONE_LEFT),
        lambda: story_of(**ONE_LEFT),
        lambda: out(**VOTING),
        (NOT_APPLICABLE, "majority_left == false"),
    ),
    "reading-begins-at-the-offset": Three(
        lambda: story_of(**STREAM),
        lambda: story_of(**STREAM).count("duplicated", "redelivery", 1),
        requeued,
        (NOT_APPLICABLE, "progress_kept_by == clients"),
    ),
    "streams-may-lose-what-was-not-flushed": Three(
        lambda: lost(kind="power_loss", **STREAM),
        lambda: story_of("power_loss", **STREAM),
        lambda: lost(**STREAM),
        (NOT_APPLICABLE, "page_cache_lost == true"),
    ),
    "silent-stream-leader-takes-a-minute": Three(
        lambda: story_of("freeze", **STREAM).silence(58.0),
        lambda: story_of("freeze", **STREAM).silence(9.0),
        lambda: story_of("freeze", **{**STREAM, "detection_timeout_s": 10}).silence(58.0),
        (NOT_APPLICABLE, "detection_timeout_s == 60"),
    ),
    "election-takes-seconds": Three(
        lambda: cut(9.97),
        lambda: cut(13.0),
        lambda: cut(13.0, publishers_connected_to_target=True),
        (NOT_APPLICABLE, "publishers_connected_to_target == false"),
    ),
}
