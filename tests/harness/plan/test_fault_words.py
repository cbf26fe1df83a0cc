"""A fault of client links names the links, any other one the host."""

import pytest

from harness.plan.fault_words import fault_words, resolved_words, role_beside


@pytest.mark.parametrize(
    ("kind", "place", "clients", "words"),
    [
        ("kill", "ref1", "", "kill ref1"),
        ("hang", "ref1", "", "hang clients' links to ref1"),
        ("hang", "ref1", "all", "hang clients' links to ref1"),
        ("hang", "ref1", "publishers", "hang publishers' links to ref1"),
        ("cut_after", "master of orders", "consumers", "cut_after consumers' links to master of"),
        ("hang", "", "", "hang clients' links"),
        ("client_crash", "publisher-1", "publishers", "client_crash publisher-1"),
        ("of another package", "", "", "of another package"),
    ],
)
def test_words_of_a_fault_say_what_it_affects(
    kind: str, place: str, clients: str, words: str
) -> None:
    assert fault_words(kind, place, clients).startswith(words)
    assert ("links" in fault_words(kind, place, clients)) is ("links" in words)


def test_a_resolved_fault_names_its_host_and_then_its_target() -> None:
    words = "kill ref1 (master of orders)"
    assert resolved_words("kill ref1", "master of orders", "ref1") == words
    assert resolved_words("kill ref1", "ref1", "ref1") == "kill ref1"


def test_a_resolved_fault_names_what_else_ran_on_its_host() -> None:
    words = "kill rkt1 (master of orders, name server)"
    assert resolved_words("kill rkt1", "master of orders", "rkt1", "name server") == words
    words = "kill rkt1 (name server)"
    assert resolved_words("kill rkt1", "rkt1", "rkt1", "name server") == words


@pytest.mark.parametrize(
    ("role", "beside"),
    [
        ("master of orders (2 mirrors, 2 synchronised)", "2 mirrors, 2 synchronised"),
        ("synchronised master of orders", "a synchronised master"),
        ("unsynchronised master of orders", "an unsynchronised master"),
        ("master of orders", ""),
        ("mirror of bills", "mirror of bills"),
        ("master of orders (no mirror); mirror of bills",) * 2,
    ],
)
def test_a_role_repeats_no_words_of_the_target(role: str, beside: str) -> None:
    assert role_beside("master of orders", role) == beside
