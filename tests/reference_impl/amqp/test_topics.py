"""Topic keys against patterns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.amqp.rules.routing import key_matches, key_words


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("a.b", ["a.b"], ["a", "a.b.c", "a.c", "", "A.b"]),
        ("*", ["a", "x"], ["", "a.b"]),
        ("#", ["", "a", "a.b.c", "..."], []),
        ("a.*", ["a.b", "a."], ["a", "a.b.c"]),
        ("a.#", ["a", "a.b", "a.b.c"], ["", "b.a"]),
        ("#.a", ["a", "b.a", "b.c.a"], ["a.b", ""]),
        ("*.#", ["a", "a.b"], [""]),
        ("#.*", ["a", "a.b"], [""]),
        ("#.#", ["", "a", "a.b"], []),
        ("a.#.b", ["a.b", "a.x.b", "a.x.y.b", "a.b.b"], ["a", "b", "a.b.c"]),
        ("*.*.*", ["a.b.c", ".."], ["a.b", "a.b.c.d"]),
        ("eu.*.orders.#", ["eu.de.orders", "eu.de.orders.new.big"], ["eu.orders", "us.ny.orders"]),
        ("", [""], ["a", "."]),
        ("a*", ["a*"], ["ab"]),
    ],
)
def test_a_pattern_matches_these_keys_and_not_those(
    pattern: str, yes: list[str], no: list[str]
) -> None:
    assert [key for key in yes + no if key_matches(key_words(pattern), key_words(key))] == yes


_words = st.lists(st.sampled_from(["a", "b", ""]), max_size=5)
_pattern = st.lists(st.sampled_from(["a", "b", "*", "#"]), max_size=5)


@given(_pattern, _words)
def test_topic_matching_agrees_with_the_definition(pattern: list[str], key: list[str]) -> None:
    assert key_matches(tuple(pattern), tuple(key)) == defined(pattern, key)


def defined(pattern: list[str], key: list[str]) -> bool:
    if not pattern:
        return not key
    if pattern[0] == "#":
        return any(defined(pattern[1:], key[spent:]) for spent in range(len(key) + 1))
    return bool(key) and pattern[0] in ("*", key[0]) and defined(pattern[1:], key[1:])
