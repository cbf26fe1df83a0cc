"""Ways of deliveries: what a system may declare, and what the facts of a run say of them."""

from dataclasses import replace
from typing import Any

import pytest

from spark_analysis.schema import old_names
from spark_analysis.schema.declared import Listing
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.sound import check
from spark_analysis.schema.ways import OWN_WAYS, DeliveryWay, way_mistakes, way_numbers
from spark_analysis.schema.words import Via
from tests.rigs.histories.by_hand import History

OLD = tuple(DeliveryWay(**way) for way in old_names.WAYS)
PARKED = DeliveryWay(9, "parked", "load", "delivered from the parking place to", again=True)
DRAINED = DeliveryWay(10, "purged", "drain", "purged by")
SEALED = DeliveryWay(254, "sealed", "audit", "found sealed by", uncommitted=True)


def test_our_own_ways_have_the_numbers_of_their_words() -> None:
    assert [way.number for way in OWN_WAYS] == [Via.LOAD, Via.DRAIN, Via.AUDIT]
    assert way_numbers(()).every == (1, 2, 3)


def test_older_runs_have_the_ways_of_their_time() -> None:
    assert list(way_mistakes(OLD)) == []
    numbers = way_numbers(OLD)
    assert (numbers.load, numbers.drain, numbers.audit) == ((1, 4), (2,), (3, 5))
    assert (numbers.again, numbers.uncommitted) == ((4,), (5,))
    assert (numbers.direct_load, numbers.direct) == ((1,), (1, 2))
    assert (numbers.whole, numbers.visible) == ((3,), (1, 4, 2, 3))
    assert (numbers.consumed, numbers.every) == ((1, 4, 2), (1, 4, 2, 3, 5))


def test_each_trait_has_the_numbers_that_are_declared_with_it() -> None:
    numbers = way_numbers((PARKED, DRAINED, SEALED))
    assert (numbers.load, numbers.drain, numbers.audit) == ((1, 9), (2, 10), (3, 254))
    assert (numbers.direct, numbers.whole) == ((1, 2, 10), (3,))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"number": 3}, "from 4 to 254, not 3"),
        ({"number": 255}, "from 4 to 254, not 255"),
        ({"number": True}, "is no DeliveryWay"),
        ({"label": "Parked!"}, "it is no label"),
        ({"label": "load"}, "stands twice"),
        ({"by": "chance"}, "by 'load', 'drain' or 'audit', not 'chance'"),
        ({"text": ""}, "its text says how a message came"),
        ({"again": 1}, "are True or False"),
        ({"by": "audit"}, "no find of the audit comes again"),
        ({"uncommitted": True}, "consumers may see no such message"),
    ],
)
def test_a_wrong_declaration_has_a_problem(changes: dict[str, Any], problem: str) -> None:
    assert problem in "; ".join(way_mistakes([replace(PARKED, **changes)]))


def test_numbers_and_labels_stand_once() -> None:
    for other in (replace(DRAINED, number=9), replace(DRAINED, label="parked")):
        assert "stands twice" in "; ".join(way_mistakes([PARKED, other]))
    assert list(way_mistakes([PARKED, DRAINED, SEALED])) == []
    assert list(way_mistakes(["parked"])) == ["'parked' is no DeliveryWay"]  # type: ignore[list-item]


def test_facts_keep_the_ways_of_their_run() -> None:
    facts = replace(History().facts, ways=(PARKED, SEALED))
    again = Facts.from_json(facts.to_json())
    assert again.ways == (PARKED, SEALED)
    assert again.way_numbers == way_numbers((PARKED, SEALED))


def test_a_wrong_way_in_facts_is_reported_with_its_place() -> None:
    found = Listing(9)
    check(replace(History().facts, ways=(replace(PARKED, number=1),)), found)
    assert found.kept == ["facts.ways: way 'parked': its number is from 4 to 254, not 1"]
