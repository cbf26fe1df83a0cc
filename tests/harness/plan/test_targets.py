"""Words that mean hosts, processes and clients: what each is parsed into, and what is none."""

import pytest

from harness.plan.files.targets import (
    FAULT_TARGETS,
    MEANINGS,
    OF_CLIENTS,
    PROCESSES,
    Target,
    TargetForm,
    parse_target,
)
from harness.plan.layouts.role_words import LEADER_AND_FOLLOWER, MASTER_AND_MIRROR
from harness.plan.operations import OPERATIONS

WORDS = {
    "master of orders": (TargetForm.MASTER, "queue", "orders"),
    "mirror of a.b c": (TargetForm.MIRROR, "queue", "a.b c"),
    "uninvolved": (TargetForm.UNINVOLVED, "", ""),
    "rmq3": (TargetForm.HOST, "host", "rmq3"),
    "host of fault 12": (TargetForm.HOST_OF_FAULT, "fault", 12),
    "other than fault 1": (TargetForm.OTHER_THAN_FAULT, "fault", 1),
    "active balancer": (TargetForm.ACTIVE_BALANCER, "", ""),
    "standby balancer": (TargetForm.STANDBY_BALANCER, "", ""),
    "name_server_of publisher-2": (TargetForm.NAME_SERVER, "client", "publisher-2"),
    "name servers": (TargetForm.NAME_SERVERS, "", ""),
    "leading controller": (TargetForm.CONTROLLER, "", ""),
    "clients": (TargetForm.CLIENTS, "", ""),
    "consumer-1": (TargetForm.CLIENT, "client", "consumer-1"),
}


@pytest.mark.parametrize("word", WORDS)
def test_a_word_has_one_form_and_at_most_one_name(word: str) -> None:
    form, key, name = WORDS[word]
    found = parse_target(word)
    assert found == Target(word, form, **({key: name} if key else {}))  # type: ignore[arg-type]
    assert str(found) == word
    assert found.of_clients == (form in OF_CLIENTS)
    assert found.of_processes == (form in PROCESSES)


@pytest.mark.parametrize(
    ("word", "same"),
    [
        ("leader of orders", "master of orders"),
        ("follower of orders", "mirror of orders"),
        ("replica of orders", "mirror of orders"),
        ("mirror 1 of orders", "mirror of orders"),
        ("replica 2 of orders", "mirror 2 of orders"),
    ],
)
def test_replicas_of_a_queue_have_several_words(word: str, same: str) -> None:
    assert parse_target(word) == parse_target(same)


def test_a_schedule_uses_the_words_of_its_system() -> None:
    master, mirror = parse_target("leader of orders"), parse_target("mirror of orders")
    host = parse_target("rmq1")
    assert [str(MASTER_AND_MIRROR.of(one)) for one in (master, mirror, host)] == [
        "master of orders", "mirror of orders", "rmq1",
    ]  # fmt: skip
    assert [str(LEADER_AND_FOLLOWER.of(one)) for one in (master, mirror, host)] == [
        "leader of orders", "follower of orders", "rmq1",
    ]  # fmt: skip
    assert [LEADER_AND_FOLLOWER.of(one).role for one in (master, mirror, host)] == [
        "leader", "follower", "",
    ]  # fmt: skip


def test_a_number_chooses_a_mirror_by_age() -> None:
    found = parse_target("follower 2 of a of b")
    assert (found.form, found.rank, found.queue) == (TargetForm.MIRROR, 2, "a of b")
    assert (found.role, str(found)) == ("mirror", "mirror 2 of a of b")
    assert str(LEADER_AND_FOLLOWER.of(found)) == "follower 2 of a of b"


def test_every_form_of_a_fault_has_a_meaning_and_a_word() -> None:
    forms = {form for form, _, _ in WORDS.values()} | {TargetForm.PROCESS}
    assert forms == {*FAULT_TARGETS} == MEANINGS.keys()


@pytest.mark.parametrize(
    "word",
    [
        *("", "master of", "master of  ", "slave of orders", "host of fault 0"),
        *("name_server_of rmq1", "rmq1/", "/broker", "rmq 1", "host of rmq1"),
        *("master 2 of orders", "mirror 0 of orders", "mirror 2 orders"),
        *("host of name servers", "host of host of rmq1/broker", "mirror of " + 256 * "q"),
    ],
)
def test_anything_else_is_no_target(word: str) -> None:
    with pytest.raises(ValueError, match="is no "):
        parse_target(word)


@pytest.mark.parametrize("word", ["all", "lost", "spare", "uninvolved", "clients"])
def test_a_word_that_means_something_names_no_host_or_queue(word: str) -> None:
    for kind in OPERATIONS.values():
        if word not in kind.targets:
            with pytest.raises(ValueError, match="is no target"):
                kind.target(word)


def test_the_queue_of_a_word_is_read_without_spaces_around() -> None:
    assert parse_target("master of  orders ").queue == "orders"
