"""Whatever happens to nodes, processes and links, what must hold of a mirrored queue holds.

A failing example prints its seed and its story; `wild(seed)` or `careful(seed)` tells it again.
"""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from reference_impl.metadata.records import EraseMembers
from reference_impl.mirrored.following import Following
from reference_impl.mirrored.gm import Ring
from reference_impl.mirrored.senders import Senders
from reference_impl.mirrored.serving import Serving
from reference_impl.process import Transact
from tests.reference_impl.mirrored.claims import (
    consumers_see_order,
    equal_at_rest,
    every_publish_is_settled,
    master_when_healed,
    nothing_confirmed_is_lost,
    nothing_diverged,
)
from tests.reference_impl.mirrored.queues import check_copies
from tests.reference_impl.mirrored.stories import Story, careful, wild

SEEDS = st.integers(0, 2**32 - 1)
TRIES = 200


def claims_of_careful(story: Story) -> None:
    equal_at_rest(story)
    nothing_diverged(story)
    nothing_confirmed_is_lost(story)
    every_publish_is_settled(story)
    consumers_see_order(story)


def run_story(story: Story) -> Story:
    note("\n".join(story.notes))
    return story


@given(seed=SEEDS)
@settings(max_examples=150, deadline=None)
def test_at_rest_every_synchronised_mirror_is_what_its_master_is(seed: int) -> None:
    equal_at_rest(run_story(wild(seed)))


@given(seed=SEEDS)
@settings(max_examples=60, deadline=None)
def test_a_queue_has_a_master_when_all_nodes_are_back(seed: int) -> None:
    master_when_healed(run_story(wild(seed)))


@given(seed=SEEDS)
@settings(max_examples=80, deadline=None)
def test_a_synchronised_oldest_mirror_loses_nothing_confirmed(seed: int) -> None:
    story = run_story(careful(seed))
    claims_of_careful(story)


@given(seed=SEEDS)
@settings(max_examples=60, deadline=None)
def test_each_side_of_a_split_cluster_goes_on_consistently(seed: int) -> None:
    story = run_story(wild(seed))
    nodes = sorted(story.cluster.nodes)
    far = "".join(nodes[: story.random.randint(1, len(nodes) - 1)]) if len(nodes) > 1 else ""
    sides = [story.cluster, story.cluster.split(far)] if far else [story.cluster]
    for number in range(12):
        for side in sides:
            side.run(story.random.randint(1, 60))
        story.publish() if number % 3 else story.run()
    for side in sides:
        side.settle()
        check_copies(side)


@given(seed=SEEDS)
@settings(max_examples=40, deadline=None)
def test_a_restarted_side_adopts_the_other_sides_state(seed: int) -> None:
    story = run_story(careful(seed))
    far = story.cluster.split("a")
    for _ in range(3):
        story.publish()
        for side in (story.cluster, far):
            side.run(story.random.randint(1, 80))
    far.settle()  # and is never seen again
    story.heal()
    claims_of_careful(story)


# --- the claims are not idle: for each there is a bug that it finds


def confirms_at_once(senders: Any, channel: Any, sequence: int, *_: Any) -> None:
    senders._confirms.add(channel, sequence)


def nothing(*_: Any) -> None:
    pass


def no_lines(_: Any) -> list[Any]:
    return []


def without_what_was_missed(ring: Any, message: Any, step: Any) -> None:
    if message.left == ring._view.left:
        ring._awaited = None
        ring._streams = ring._streams or {}


def whatever_is_pending(ring: Any, step: Any) -> None:
    if ring._view.aliases and not ring._erasing:
        ring._erasing.update(ring._view.aliases)
        erase = EraseMembers(ring._name, ring._me, ring._view.aliases)
        step.effects.append(Transact(0, erase))


Bug = tuple[type, str, Callable[..., Any]]
BUGS: dict[str, Bug] = {
    "a mirror confirms what it has from the channel alone": (
        Senders,
        "copied",
        confirms_at_once,
    ),
    "a new master forgets what only the channel had sent": (
        Senders,
        "lines",
        no_lines,
    ),
    "a mirror passes acknowledgements over": (Following, "_acked", nothing),
    "a new neighbour is not caught up": (
        Ring,
        "_catch_up",
        without_what_was_missed,
    ),
    "a death is reported before the last messages of the dead": (
        Ring,
        "_erase",
        whatever_is_pending,
    ),
    "a master never hears that its disk has flushed": (
        Serving,
        "flushed",
        nothing,
    ),
}


@pytest.mark.parametrize("title", BUGS)
def test_a_bug_is_found(monkeypatch: pytest.MonkeyPatch, title: str) -> None:
    part, name, bug = BUGS[title]
    monkeypatch.setattr(part, name, bug)
    for seed in range(TRIES):
        try:
            claims_of_careful(careful(seed))
        except AssertionError:
            return
    pytest.fail(f"{TRIES} stories did not find it")
