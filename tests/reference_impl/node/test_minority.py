"""When a node pauses (docs/behaviour/rabbitmq.md 3.8)."""

import pytest

from reference_impl.node.minority import Minority, majority, one_of

LOSSES = [
    (3, ["b"], {"c"}, False),
    (3, ["b", "c"], set(), True),
    (2, ["b"], set(), True),
    (4, ["b", "c"], {"d"}, True),
    (5, ["b", "c"], {"d", "e"}, False),
]


def closed(total: int, lost: list[str], linked: set[str], answer: set[str]) -> bool:
    """What comes of these links being closed, one after the other, and such answers to pings."""
    minority = Minority(majority(total))
    gone: list[str] = []
    pinged: list[str] = []
    for node in lost:
        gone.append(node)
        pinged += minority.suspect(node, gone)
    assert sorted(pinged) == sorted(lost), "everybody without a link is asked once"
    for node in pinged:
        assert not minority.can_judge
        minority.pinged(node, node in answer)
    return minority.judge(frozenset(linked))


def silent(minority: Minority, lost: str, linked: set[str]) -> bool:
    """A peer's silence is judged without a question."""
    minority.silent(lost)
    assert minority.suspect(lost, [lost]) == []
    return minority.judge(frozenset(linked))


@pytest.mark.parametrize(("total", "lost", "linked", "pauses"), LOSSES)
def test_a_node_pauses_with_at_most_half_of_all_nodes(
    total: int, lost: list[str], linked: set[str], pauses: bool
) -> None:
    assert closed(total, lost, linked, set()) is pauses


@pytest.mark.parametrize(
    ("total", "lost", "answer", "pauses"),
    [
        (3, ["b", "c"], {"b", "c"}, False),  # the known hole: a frozen node goes on
        (3, ["b", "c"], {"b"}, True),
        (2, ["b"], {"b"}, True),
    ],
)
def test_a_returning_peer_counts_only_for_the_loss_of_others(
    total: int, lost: list[str], answer: set[str], pauses: bool
) -> None:
    assert closed(total, lost, set(), answer) is pauses


@pytest.mark.parametrize(("total", "lost", "linked", "pauses"), LOSSES)
def test_a_silent_peer_is_not_queried(
    total: int, lost: list[str], linked: set[str], pauses: bool
) -> None:
    minority, left = Minority(majority(total)), {*linked, *lost}
    judged = [silent(minority, node, left := left - {node}) for node in lost]
    assert judged == [False] * (len(lost) - 1) + [pauses]


def test_a_silent_peer_is_not_queried_when_another_link_closes() -> None:
    minority = Minority(majority(3))
    silent(minority, "b", {"c"})
    assert minority.suspect("c", ["b", "c"]) == ["c"]


def test_a_returned_peer_is_queried_when_it_closes_its_link() -> None:
    minority = Minority(majority(3))
    silent(minority, "b", {"c"})
    minority.linked("b")
    assert minority.suspect("b", ["b"]) == ["b"]


def test_an_awaited_answer_is_awaited_although_another_peer_is_silent() -> None:
    minority = Minority(majority(3))
    assert minority.suspect("b", ["b"]) == ["b"]
    minority.silent("c")
    assert minority.suspect("c", ["b", "c"]) == []
    assert not minority.can_judge
    minority.pinged("b", True)
    assert minority.judge(frozenset()) is True


def test_an_answer_of_an_earlier_time_does_not_count_later() -> None:
    minority = Minority(majority(3))
    minority.suspect("b", ["b"])
    minority.pinged("b", True)
    assert minority.judge(frozenset({"c"})) is False
    minority.suspect("c", ["b", "c"])
    minority.pinged("b", False)
    minority.pinged("c", False)
    assert minority.judge(frozenset()) is True


def test_the_suspects_are_known_until_they_are_judged() -> None:
    minority = Minority(majority(3))
    minority.suspect("b", ["b"])
    assert minority.suspects == ["b"]
    minority.pinged("b", False)
    minority.judge(frozenset({"c"}))
    assert minority.suspects == []


@pytest.mark.parametrize(
    ("me", "linked", "is_enough"),
    [("a", {"b"}, True), ("b", {"c"}, False), ("b", set(), False), ("b", {"a"}, True)],
)
def test_under_pause_if_all_down_one_preferred_node_is_enough(
    me: str, linked: set[str], is_enough: bool
) -> None:
    assert Minority(one_of(["a", "e"], me)).holds(frozenset(linked)) is not is_enough
