"""When a node pauses (rabbitmq.md 3.8)."""

import pytest

from reference_impl.node.minority import Minority


def judged(total: int, lost: list[str], linked: set[str], answer: set[str]) -> bool:
    """What comes of losing these, one after the other, with such answers to the pings."""
    minority = Minority(total)
    gone: list[str] = []
    asked: list[str] = []
    for node in lost:
        gone.append(node)
        asked += minority.suspect(node, gone)
    assert sorted(asked) == sorted(lost), "everybody without a link is asked once"
    ready = [minority.pinged(node, node in answer) for node in asked]
    assert ready == [False] * (len(asked) - 1) + [True]
    return minority.judge(frozenset(linked))


@pytest.mark.parametrize(
    ("total", "lost", "linked", "answer", "pauses"),
    [
        (3, ["b"], {"c"}, set(), False),
        (3, ["b", "c"], set(), set(), True),
        (3, ["b", "c"], set(), {"b", "c"}, False),  # the known hole: a frozen node goes on
        (3, ["b", "c"], set(), {"b"}, True),
        (2, ["b"], set(), set(), True),
        (2, ["b"], set(), {"b"}, True),
        (4, ["b", "c"], {"d"}, set(), True),
        (5, ["b", "c"], {"d", "e"}, set(), False),
    ],
)
def test_a_node_pauses_with_half_of_the_configured_nodes_or_less(
    total: int, lost: list[str], linked: set[str], answer: set[str], pauses: bool
) -> None:
    assert judged(total, lost, linked, answer) is pauses


def test_an_answer_of_an_earlier_time_does_not_count_later() -> None:
    minority = Minority(3)
    minority.suspect("b", ["b"])
    minority.pinged("b", True)
    assert minority.judge(frozenset({"c"})) is False
    minority.suspect("c", ["b", "c"])
    minority.pinged("b", False)
    minority.pinged("c", False)
    assert minority.judge(frozenset()) is True


def test_the_suspects_are_known_until_they_are_judged() -> None:
    minority = Minority(3)
    minority.suspect("b", ["b"])
    assert minority.suspects == ["b"]
    minority.pinged("b", False)
    minority.judge(frozenset({"c"}))
    assert minority.suspects == []
