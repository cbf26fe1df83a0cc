"""Dead letters: where they go on, what they tell of their deaths, and which do not go round."""

from typing import Any

import msgspec
import pytest

from reference_impl.amqp.codec.properties import (
    NO_PROPERTIES,
    as_dead_letter,
    headers_of,
    wishes,
)
from reference_impl.amqp.parts.dead_letters import DeadLetters, died, goes_round
from reference_impl.pid import Pid
from reference_impl.process import Send
from reference_impl.protocol.queues import DeadLetter, Deliver, Message
from tests.reference_impl.amqp.client import PERSISTENT, record
from tests.reference_impl.amqp.fake_node import FakeNode

OWN, MASTER, MIRROR = Pid("ref1", 1, 2), Pid("ref1", 1, 9), Pid("ref2", 1, 9)
MESSAGE = Message(b"id", "first", "k", PERSISTENT, b"body", True)


def letter(**changes: Any) -> DeadLetter:
    entries = {"queue": "q", "exchange": "", "key": "r", "reason": "rejected", "message": MESSAGE}
    return DeadLetter(**{**entries, **changes})


def sent_on(*letters: DeadLetter) -> list[tuple[Pid, Message]]:
    """By a node that has the queue "r", with a mirror."""
    node = FakeNode()
    node.tables.queues["r"] = record("r", MASTER, MIRROR)
    process = DeadLetters(OWN, node)
    found = []
    for one in letters:
        for effect in process.handle(one):
            assert isinstance(effect, Send)
            assert isinstance(effect.body, Deliver)
            assert (effect.body.channel, effect.body.sequence) == (OWN, 0)
            found.append((effect.to, effect.body.message))
    return found


def test_a_dead_letter_reaches_every_replica_of_the_routed_queues() -> None:
    (first, message), (second, other) = sent_on(letter())
    assert {first, second} == {MASTER, MIRROR}
    assert message == other
    assert (message.exchange, message.key, message.body) == ("", "r", b"body")
    assert message.persistent
    assert message.identity != MESSAGE.identity


def test_two_letters_are_two_messages() -> None:
    assert len({message.identity for _, message in sent_on(letter(), letter())}) == 2


def test_without_a_key_of_the_queues_its_own_leads() -> None:
    assert sent_on(letter(key=None)) == []
    of_its_own = msgspec.structs.replace(MESSAGE, key="r")
    assert len(sent_on(letter(key=None, message=of_its_own))) == 2


def test_one_whose_exchange_is_not_there_is_gone() -> None:
    assert sent_on(letter(exchange="nowhere")) == []


def test_a_dead_letter_lists_latest_and_first_death() -> None:
    headers = headers_of(sent_on(letter())[0][1].header)
    death = {
        "count": 1,
        "reason": "rejected",
        "queue": "q",
        "exchange": "first",
        "routing-keys": ["k"],
    }
    assert headers["x-death"] == [death]
    assert {
        name: headers[f"x-first-death-{name}"] for name in ("reason", "queue", "exchange")
    } == {
        "reason": "rejected",
        "queue": "q",
        "exchange": "first",
    }


def test_deaths_are_counted_by_queue_and_reason_the_latest_first() -> None:
    headers: dict[str, Any] = {"mine": 1}
    for queue, reason in (("q", "maxlen"), ("r", "rejected"), ("q", "maxlen")):
        headers = died(headers, letter(queue=queue, reason=reason))
    entries = [(one["queue"], one["reason"], one["count"]) for one in headers["x-death"]]
    assert entries == [("q", "maxlen", 2), ("r", "rejected", 1)]
    assert (headers["x-first-death-queue"], headers["mine"]) == ("q", 1)


@pytest.mark.parametrize("written", ["none", [1, "two"], [{"count": "many", "queue": "q"}]])
def test_a_clients_own_values_do_no_harm(written: object) -> None:
    headers = died({"x-death": written}, letter())
    assert headers["x-death"][0]["count"] == 1


def test_a_dead_letter_cycle_ends_unless_a_consumer_rejected_it() -> None:
    by_length = {"queue": "r", "reason": "maxlen"}
    rejected = {"queue": "q", "reason": "rejected"}
    assert goes_round("r", [by_length])
    assert not goes_round("q", [by_length])
    assert goes_round("r", [{"queue": "q", "reason": "maxlen"}, by_length])
    assert not goes_round("r", [rejected, by_length])


def test_its_expiration_is_noted_and_has_no_further_effect() -> None:
    of_its_own = bytes.fromhex("0100") + b"\x0560000"
    assert wishes(of_its_own, "guest").lives_ms == 60_000
    mortal = msgspec.structs.replace(MESSAGE, header=of_its_own, lives_ms=60_000)
    _, message = sent_on(letter(reason="expired", message=mortal))[0]
    assert (message.lives_ms, wishes(message.header, "guest").lives_ms) == (-1, -1)
    (death,) = headers_of(message.header)["x-death"]
    assert death["original-expiration"] == "60000"


def test_one_that_would_go_round_is_dropped() -> None:
    again = msgspec.structs.replace(
        MESSAGE,
        header=as_dead_letter(NO_PROPERTIES, {"x-death": [{"queue": "r", "reason": "maxlen"}]}),
    )
    assert sent_on(letter(reason="maxlen", message=again)) == []
    assert len(sent_on(letter(reason="rejected", message=again))) == 2


def test_dead_lettering_ignores_unknown_messages() -> None:
    assert DeadLetters(OWN, FakeNode()).handle("what?") == []
