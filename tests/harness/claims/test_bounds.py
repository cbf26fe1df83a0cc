"""A number that brokers only bound: what it decides, and what stays unknown."""

import pytest

from harness.claims.derived import derive
from harness.claims.state import KnownFacts, check
from harness.claims.values import Unknown, holds
from harness.cluster.port import Roles
from harness.plan.layouts.role_words import LEADER_AND_FOLLOWER, MASTER_AND_MIRROR
from harness.run.core.resolving import describe
from harness.run.prepared import synchronised_at_fault
from spark_analysis.schema.declared import Listing
from tests.rigs.runs.findings import Story

ALL_ONLINE = Roles("a", ("b", "c"), None, synchronised_at_least=1)
ONE_LEFT = Roles("a", ("b",), None, synchronised_at_least=1)
SYNCHRONISED = Roles("a", ("b", "c"), ("c",))


@pytest.mark.parametrize(
    ("roles", "recorded"),
    [
        ([ALL_ONLINE], {"at_least": 1}),
        ([ONE_LEFT], 1),  # the remaining mirror holds it
        ([SYNCHRONISED], 1),
        ([ALL_ONLINE, SYNCHRONISED], {"at_least": 1}),
        ([], None),
    ],
)
def test_an_unreported_value_is_recorded_as_a_bound(roles: list[Roles], recorded: object) -> None:
    assert synchronised_at_fault(roles) == recorded


def state(synchronised: object, mirrors: int = 2) -> KnownFacts:
    mirrors_state = {"synchronised_mirrors_at_fault": synchronised, "mirrors_at_fault": mirrors}
    return KnownFacts.from_json({"windows": {"1": mirrors_state}})


@pytest.mark.parametrize(
    ("comparator", "wanted", "holding"),
    [(">=", 1.0, True), ("==", 0.0, False), ("==", 1.0, None), (">=", 2.0, None)],
)
def test_a_bound_decides_what_it_decides(
    comparator: str, wanted: float, holding: bool | None
) -> None:
    value = state({"at_least": 1}).value("synchronised_mirrors_at_fault", 1)
    assert holds(value, comparator, (wanted,)) is holding


def test_bound_below_mirror_count_leaves_full_copies_unknown() -> None:
    of = Story("kill").evidence.facts
    name = "every_mirror_synchronised"
    assert isinstance(derive(name, 1, of, state({"at_least": 1})), Unknown)
    assert derive(name, 1, of, state({"at_least": 2})) is True
    assert derive(name, 1, of, state(1)) is False


def test_a_bound_that_is_none_is_reported() -> None:
    for wrong in ({"at_least": -1}, {"at_least": True}, {"at_least": 1, "not_applicable": 1}, {}):
        listener = Listing(9)
        check({"mirrors_at_fault": wrong}, listener)
        assert listener.count, wrong
    listener = Listing(9)
    check({"elects": {"at_least": 1}}, listener)
    assert listener.count, "it is no number"
    listener = Listing(9)
    check({"mirrors_at_fault": {"at_least": 1}}, listener)
    assert not listener.count


def test_a_mirror_without_a_report_is_neither_online_nor_offline() -> None:
    leader = describe("a", {"q": ALL_ONLINE}, LEADER_AND_FOLLOWER)
    assert leader == (
        "leader of q (at least 1 of 2 followers synchronised; the brokers do not report which)"
    )
    assert describe("b", {"q": ALL_ONLINE}, LEADER_AND_FOLLOWER) == "follower of q"
    unsynchronised = describe("b", {"q": SYNCHRONISED}, MASTER_AND_MIRROR)
    assert unsynchronised == "unsynchronised mirror of q"
