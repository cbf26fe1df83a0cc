"""A fault of client links names the links, any other one the host."""

import pytest

from harness.plan.fault_words import fault_words


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
