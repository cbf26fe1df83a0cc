"""Confirm levels: what a system may declare, and what the facts of a run say of them."""

from typing import Any

import pytest

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import (
    DISK_OPEN,
    LEVELS,
    Level,
    Strength,
    least_promised,
    level_mistakes,
    replicated_means,
)
from tests.rigs.histories.by_hand import History


def test_our_own_levels_are_those_of_strength() -> None:
    assert list(level_mistakes(LEVELS)) == []
    assert [(one.rank, one.label) for one in LEVELS][:2] == [(1, "replicated"), (2, "stored")]


@pytest.mark.parametrize(
    ("levels", "problem"),
    [
        ((), "declares no confirm level"),
        ((Level(0, "none"),), "from 1 to 254, not 0"),
        ((Level(255, "last"),), "from 1 to 254, not 255"),
        ((Level(1, "Synced!"),), "no label"),
        ((Level(1, "synced", b"on disk"),), "its meaning is a text"),  # type: ignore[arg-type]
        ((Level(1, "synced"), Level(1, "cached")), "stands twice"),
        ((Level(1, "synced"), Level(2, "synced")), "stands twice"),
        (("synced",), "is no Level"),
    ],
)
def test_a_wrong_declaration_has_a_problem(levels: Any, problem: str) -> None:
    assert problem in "; ".join(level_mistakes(levels))


def test_a_system_declares_what_replicated_means() -> None:
    own = replicated_means("a majority had it")
    assert own == LEVELS
    assert [one.meaning for one in own] == ["a majority had it", *(e.meaning for e in LEVELS[1:])]


def test_without_a_declared_level_a_confirm_promises_the_least() -> None:
    assert least_promised(LEVELS) == Level(3, Strength.BUFFERED.label)
    assert least_promised((Level(2, "cached"), Level(1, "synced"))) == Level(2, "cached")


def test_facts_keep_the_levels_of_their_run() -> None:
    own = (Level(1, "quorum_synced", "on a quorum's disks"), Level(4, "quorum_cached"))
    facts = History(levels=own).facts
    again = Facts.from_json(facts.to_json())
    assert again.levels == own
    assert [one.meaning for one in again.levels] == ["on a quorum's disks", ""]
    assert again.labels == {1: "quorum_synced", 4: "quorum_cached"}


def test_facts_of_older_runs_have_our_own_levels() -> None:
    document = History().facts.to_json()
    del document["levels"]
    assert Facts.from_json(document).levels == LEVELS


def test_a_level_recorded_without_meaning_has_that_of_our_own_level() -> None:
    document = History().facts.to_json()
    document["levels"] = [{"rank": 2, "label": "stored"}, {"rank": 9, "label": "quorum_cached"}]
    ours, theirs = Facts.from_json(document).levels
    assert ours.explained == LEVELS[1].meaning == "one broker had it on its disk"
    assert theirs.explained == ""


def test_what_replicated_means_says_when_only_the_master_had_it() -> None:
    (replicated, *_) = LEVELS
    assert replicated.meaning.endswith(DISK_OPEN)


def test_every_level_of_ours_has_a_meaning() -> None:
    assert all(one.meaning for one in LEVELS)
