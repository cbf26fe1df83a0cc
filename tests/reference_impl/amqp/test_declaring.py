"""Queues and exchanges: declared, bound, emptied, deleted, and refused."""

from typing import Any

import pytest

from reference_impl.amqp.codec import queue_methods as q
from reference_impl.amqp.codec import session_methods as s
from reference_impl.process import SUPERVISOR, Send
from reference_impl.protocol.queues import Refused, StartQueue
from tests.reference_impl.amqp.client import Client, Recorder, consume, declare
from tests.reference_impl.amqp.fake_node import FakeNode


def declare_exchange(name: str = "x", kind: str = "direct", **options: Any) -> q.ExchangeDeclare:
    fields = ("passive", "durable", "auto_delete", "internal", "nowait")
    values = [options.get(each, False) for each in fields]
    passive, durable, auto_delete, internal, nowait = values
    arguments = options.get("arguments", {})
    return q.ExchangeDeclare(
        0, name, kind, passive, durable, auto_delete, internal, nowait, arguments
    )


def refusal(*said: object) -> tuple[int, str]:
    """The code and text that the last one is answered with, on a channel of one's own."""
    client = Client(FakeNode())
    for method in said[:-1]:
        client.say(method)
    (closed,) = client.say(said[-1])
    assert isinstance(closed, s.ChannelClose | s.ConnectionClose), closed
    return closed.code, closed.text.partition(" - ")[2]


# --- queues


def test_the_local_supervisor_starts_a_missing_queue() -> None:
    node = FakeNode()
    supervisor = Recorder()
    node.processes[node.well_known("ref1", SUPERVISOR)] = supervisor
    client = Client(node)
    client.say(declare("q", durable=True, auto_delete=True, arguments={"x-expires": 60_000}))
    (request,) = supervisor.heard
    assert request == StartQueue(
        client.channel, request.request, "q", True, True, None, {"x-expires": 60_000}
    )
    supervisor.effects = [Send(client.channel, Refused(request.request, 406, "not today"))]
    node.post(node.supervisor, "refuse")
    (closed,) = client.hear()
    assert (closed.code, closed.text) == (406, "PRECONDITION_FAILED - not today")


def test_declare_ok_counts_what_is_ready_and_who_consumes() -> None:
    client = Client(FakeNode())
    assert client.say(declare("q")) == [q.QueueDeclareOk("q", 0, 0)]
    client.publish("q")
    assert client.say(declare("q")) == [q.QueueDeclareOk("q", 1, 0)]
    client.say(consume("q", no_ack=True))
    assert client.say(declare("q", passive=True)) == [q.QueueDeclareOk("q", 0, 1)]


def test_an_empty_queue_name_means_the_last_generated_one() -> None:
    client = Client(FakeNode())
    (first,) = client.say(declare(""))
    (second,) = client.say(declare(""))
    assert first.queue.startswith("amq.gen-")
    assert first.queue != second.queue
    assert client.say(q.QueueBind(0, "", "amq.direct", "", False, {})) == [q.QueueBindOk()]
    client.publish(second.queue, exchange="amq.direct")
    assert client.say(q.QueuePurge(0, "", False)) == [q.QueuePurgeOk(1)]
    assert client.say(q.QueueDelete(0, "", False, False, False)) == [q.QueueDeleteOk(0)]
    assert client.say(declare(first.queue, passive=True)) == [first]


def test_an_empty_name_before_any_declare_is_404() -> None:
    assert refusal(q.QueuePurge(0, "", False)) == (404, "no previously declared queue")


@pytest.mark.parametrize(
    ("first", "second", "what", "received", "current"),
    [
        ({"durable": True}, {}, "durable", "'false'", "'true'"),
        ({}, {"auto_delete": True}, "auto_delete", "'true'", "'false'"),
        (
            {"arguments": {"x-expires": 1000}},
            {},
            "x-expires",
            "none",
            "the value '1000' of type 'signedint'",
        ),
        (
            {},
            {"arguments": {"x-queue-mode": "default"}},
            "x-queue-mode",
            "the value 'default' of type 'longstr'",
            "none",
        ),
    ],
)
def test_a_different_declaration_is_406(
    first: dict[str, Any], second: dict[str, Any], what: str, received: str, current: str
) -> None:
    code, text = refusal(declare("q", **first), declare("q", **second))
    assert code == 406
    assert text == (
        f"inequivalent arg '{what}' for queue 'q' in vhost '/': "
        f"received {received} but current is {current}"
    )


def test_arguments_that_mean_nothing_are_not_compared() -> None:
    client = Client(FakeNode())
    client.say(declare("q", arguments={"x-ha-policy": "all"}))
    assert client.say(declare("q")) == [q.QueueDeclareOk("q", 0, 0)]


@pytest.mark.parametrize(
    "arguments",
    [
        {"x-queue-type": "quorum"},
        {"x-queue-mode": "lazy"},
    ],
)
def test_unimplemented_queue_arguments_are_refused_with_406(arguments: dict[str, Any]) -> None:
    code, text = refusal(declare("q", arguments=arguments))
    assert code == 406
    assert next(iter(arguments)) in text
    assert "not implemented by the reference" in text


@pytest.mark.parametrize(
    "arguments",
    [
        {"x-max-length": -1},
        {"x-max-length": True},
        {"x-message-ttl": 2**32},
        {"x-max-priority": 256},
        {"x-max-length-bytes": "many"},
        {"x-single-active-consumer": 1},
        {"x-overflow": "magic"},
        {"x-dead-letter-exchange": 1},
        {"x-dead-letter-routing-key": "k"},
    ],
)
def test_a_limit_that_is_none_is_406(arguments: dict[str, Any]) -> None:
    code, text = refusal(declare("q", arguments=arguments))
    assert (code, next(iter(arguments)) in text) == (406, True)


def test_queue_limits_and_single_active_consumer_are_compared_on_redeclaration() -> None:
    arguments = {"x-max-length": 3, "x-overflow": "drop-head", "x-single-active-consumer": True}
    client = Client(FakeNode())
    for _ in range(2):
        assert client.say(declare("q", arguments=arguments)) == [q.QueueDeclareOk("q", 0, 0)]
    other = {**arguments, "x-max-length": 4}
    assert refusal(declare("q", arguments=arguments), declare("q", arguments=other))[0] == 406


@pytest.mark.parametrize("expires", ["soon", 0, -1, True, 2**40])
def test_an_expiry_that_is_no_time_is_406(expires: object) -> None:
    code, text = refusal(declare("q", arguments={"x-expires": expires}))
    assert (code, text.startswith("invalid arg 'x-expires'")) == (406, True)


def test_names_of_the_broker_are_403() -> None:
    text = "name 'amq.mine' contains reserved prefix 'amq.*'"
    assert refusal(declare("amq.mine")) == (403, f"queue {text}")
    assert refusal(declare_exchange("amq.mine")) == (403, f"exchange {text}")


@pytest.mark.parametrize(
    "method",
    [
        declare("mine"),
        declare("mine", exclusive=True),
        declare("mine", passive=True),
        consume("mine"),
        q.BasicGet(0, "mine", False),
        q.QueueBind(0, "mine", "amq.direct", "", False, {}),
        q.QueuePurge(0, "mine", False),
        q.QueueDelete(0, "mine", False, False, False),
    ],
)
def test_an_exclusive_queue_is_locked_to_every_other_connection(method: object) -> None:
    node = FakeNode()
    owner, other = Client(node), Client(node)
    owner.say(declare("mine", exclusive=True, durable=True))
    assert not node.tables.queues["mine"].durable
    assert owner.say(declare("mine", passive=True)) == [q.QueueDeclareOk("mine", 0, 0)]
    (closed,) = other.say(method)
    assert closed.code == 405
    assert closed.text.startswith(
        "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'mine' in vhost '/'"
    )


def test_an_ordinary_queue_declared_exclusive_is_405() -> None:
    assert refusal(declare("q"), declare("q", exclusive=True))[0] == 405


def test_purge_and_delete_say_how_many_messages_went() -> None:
    client = Client(FakeNode())
    client.say(declare("q"))
    client.publish("q")
    client.publish("q")
    assert client.say(q.QueuePurge(0, "q", False)) == [q.QueuePurgeOk(2)]
    client.publish("q")
    delete = q.QueueDelete(0, "q", False, False, False)
    assert client.say(delete) == [q.QueueDeleteOk(1)]
    assert client.say(delete) == [q.QueueDeleteOk(0)]


def test_if_unused_and_if_empty_protect_queues_from_deletion() -> None:
    called = "queue 'q' in vhost '/'"
    used = refusal(declare("q"), consume("q"), q.QueueDelete(0, "q", True, False, False))
    assert used == (406, f"{called} in use")
    client = Client(FakeNode())
    client.say(declare("q"))
    client.publish("q")
    (closed,) = client.say(q.QueueDelete(0, "q", False, True, False))
    assert closed.text.endswith(f"{called} not empty")


def test_bindings_lead_to_the_queue_until_they_are_undone() -> None:
    client = Client(FakeNode())
    client.say(declare("q"))
    bind = q.QueueBind(0, "q", "amq.topic", "a.#", False, {})
    assert client.say(bind) == client.say(bind) == [q.QueueBindOk()]
    client.publish("a.b", exchange="amq.topic")
    unbind = q.QueueUnbind(0, "q", "amq.topic", "a.#", {})
    assert client.say(unbind) == client.say(unbind) == [q.QueueUnbindOk()]
    client.publish("a.b", exchange="amq.topic")
    assert client.say(declare("q", passive=True)) == [q.QueueDeclareOk("q", 1, 0)]


def test_binding_a_missing_queue_is_404_but_unbinding_is_not() -> None:
    missing = q.QueueBind(0, "missing", "amq.direct", "", False, {})
    assert refusal(missing) == (404, "no queue 'missing' in vhost '/'")
    nowhere = q.QueueBind(0, "q", "nowhere", "", False, {})
    assert refusal(declare("q"), nowhere) == (404, "no exchange 'nowhere' in vhost '/'")
    client = Client(FakeNode())
    assert client.say(q.QueueUnbind(0, "missing", "nowhere", "", {})) == [q.QueueUnbindOk()]


def test_the_default_exchange_cannot_be_touched() -> None:
    text = "operation not permitted on the default exchange"
    for method in (
        declare_exchange(""),
        q.ExchangeDelete(0, "", False, False),
        q.QueueBind(0, "q", "", "", False, {}),
        q.QueueUnbind(0, "q", "", "", {}),
        q.ExchangeBind(0, "amq.direct", "", "", False, {}),
        q.ExchangeUnbind(0, "", "amq.direct", "", False, {}),
    ):
        assert refusal(declare("q"), method) == (403, text), method


# --- exchanges


def test_an_exchange_is_there_until_it_is_deleted() -> None:
    client = Client(FakeNode())
    assert client.say(declare_exchange()) == [q.ExchangeDeclareOk()]
    assert client.say(declare_exchange(passive=True)) == [q.ExchangeDeclareOk()]
    delete = q.ExchangeDelete(0, "x", False, False)
    assert client.say(delete) == client.say(delete) == [q.ExchangeDeleteOk()]
    (closed,) = client.say(declare_exchange(passive=True))
    assert (closed.code, closed.text) == (404, "NOT_FOUND - no exchange 'x' in vhost '/'")


def test_an_exchange_declared_differently_is_406() -> None:
    code, text = refusal(declare_exchange(), declare_exchange(kind="fanout"))
    assert code == 406
    assert text == (
        "inequivalent arg 'type' for exchange 'x' in vhost '/': "
        "received 'fanout' but current is 'direct'"
    )


def test_if_unused_protects_a_bound_exchange_from_deletion() -> None:
    bind = q.QueueBind(0, "q", "x", "", False, {})
    delete = q.ExchangeDelete(0, "x", True, False)
    answer = refusal(declare_exchange(), declare("q"), bind, delete)
    assert answer == (406, "exchange 'x' in vhost '/' in use")


def test_a_predefined_exchange_can_be_redeclared_but_not_deleted() -> None:
    client = Client(FakeNode())
    again = declare_exchange("amq.topic", "topic", durable=True)
    assert client.say(again) == [q.ExchangeDeclareOk()]
    code, text = refusal(q.ExchangeDelete(0, "amq.topic", False, False))
    assert (code, text) == (
        403,
        "deletion of system exchange 'amq.topic' in vhost '/' not allowed",
    )


def test_an_unknown_type_is_503() -> None:
    assert refusal(declare_exchange(kind="magic")) == (503, "unknown exchange type 'magic'")


def test_an_alternate_exchange_is_a_name_and_is_compared() -> None:
    assert refusal(declare_exchange(arguments={"alternate-exchange": 7})) == (
        406,
        "invalid type 'int' for arg 'alternate-exchange' in exchange 'x' in vhost '/'",
    )
    other = declare_exchange(arguments={"alternate-exchange": "y"})
    assert refusal(declare_exchange(), other) == (
        406,
        "inequivalent arg 'alternate-exchange' for exchange 'x' in vhost '/': "
        "received the value 'y' of type 'longstr' but current is none",
    )
    assert Client(FakeNode()).say(other) == [q.ExchangeDeclareOk()]


@pytest.mark.parametrize("how", ["most", 7])
def test_a_headers_binding_accepts_only_four_x_match_modes(how: object) -> None:
    made = declare_exchange(kind="headers"), declare("q")
    code, text = refusal(*made, q.QueueBind(0, "q", "x", "", False, {"x-match": how}))
    assert (code, text.startswith("Invalid x-match field")) == (406, True)


def test_an_exchange_feeds_another_until_they_are_unbound() -> None:
    client = Client(FakeNode())
    client.say(declare_exchange("x", "topic"))
    client.say(declare_exchange("y", "fanout"))
    client.say(declare("q"))
    client.say(q.QueueBind(0, "q", "y", "", False, {}))
    bind = q.ExchangeBind(0, "y", "x", "a.*", False, {})
    assert client.say(bind) == [q.ExchangeBindOk()]
    client.publish("a.b", exchange="x")
    unbind = q.ExchangeUnbind(0, "y", "x", "a.*", False, {})
    assert client.say(unbind) == [q.ExchangeUnbindOk()]
    client.publish("a.b", exchange="x")
    assert client.say(declare("q", passive=True)) == [q.QueueDeclareOk("q", 1, 0)]
    nowhere = q.ExchangeBind(0, "y", "nowhere", "", False, {})
    assert refusal(declare_exchange("y"), nowhere)[0] == 404


def test_small_methods_are_answered() -> None:
    client = Client(FakeNode())
    request = s.AccessRequest("/data", False, False, True, True, True)
    assert client.say(request) == [s.AccessRequestOk(1)]
    assert client.say(s.ChannelFlow(True)) == [s.ChannelFlowOk(True)]
    assert client.say(q.BasicCancelOk("c")) == []
