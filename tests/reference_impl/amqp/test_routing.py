"""From exchange and key to queues, and to the processes that get a copy."""

import pika
import pytest
from msgspec.structs import replace

from reference_impl.amqp.codec.content import content_header
from reference_impl.amqp.codec.properties import NO_PROPERTIES
from reference_impl.amqp.rules.errors import AmqpError
from reference_impl.amqp.rules.routing import Router, Target, routed, targets
from reference_impl.metadata.commands import (
    BindExchange,
    BindQueue,
    DeclareExchange,
    DeleteExchange,
    PutPolicy,
)
from reference_impl.metadata.exchanges import predeclared
from reference_impl.metadata.tables import Binding, Exchange, Link, Policy, Tables
from reference_impl.pid import Pid
from tests.reference_impl.amqp.client import record

MASTER, MIRROR = Pid("ref1", 1, 9), Pid("ref2", 1, 9)


def tables_with(*queues: str) -> Tables:
    tables = predeclared()
    for name in queues:
        tables.queues[name] = record(name, MASTER, MIRROR)
    return tables


def declare(tables: Tables, name: str, kind: str) -> None:
    assert DeclareExchange(Exchange(name, kind, False, False, False, {})).apply(tables) is None


def bind(tables: Tables, exchange: str, queue: str, key: str = "") -> None:
    assert BindQueue(Binding(exchange, queue, key, {})).apply(tables) is None


def link(tables: Tables, source: str, destination: str, key: str = "") -> None:
    assert BindExchange(Link(source, destination, key, {})).apply(tables) is None


def test_the_default_exchange_leads_to_the_queue_of_that_name() -> None:
    assert targets(tables_with("q"), "", "q") == (Target("q", (MASTER, MIRROR), MASTER),)
    assert targets(tables_with("q"), "", "r") == ()


def test_direct_goes_by_the_whole_key_and_fanout_by_none() -> None:
    tables = tables_with("q", "r")
    bind(tables, "amq.direct", "q", "k")
    bind(tables, "amq.direct", "r", "k.l")
    bind(tables, "amq.fanout", "r", "whatever")
    assert routed(tables, "amq.direct", "k") == ["q"]
    assert routed(tables, "amq.fanout", "k") == ["r"]


def test_a_queue_that_is_bound_twice_gets_one_copy() -> None:
    tables = tables_with("q")
    bind(tables, "amq.topic", "q", "#")
    bind(tables, "amq.topic", "q", "a.*")
    assert routed(tables, "amq.topic", "a.b") == ["q"]


def test_an_exchange_feeds_another_and_a_circle_ends() -> None:
    tables = tables_with("q", "r")
    declare(tables, "first", "topic")
    declare(tables, "second", "fanout")
    link(tables, "first", "second", "a.#")
    link(tables, "second", "first")
    bind(tables, "second", "q")
    bind(tables, "first", "r", "a.b")
    assert routed(tables, "first", "a.b") == ["r", "q"]
    assert routed(tables, "first", "b") == []
    assert routed(tables, "second", "a.b") == ["q", "r"]


def test_an_exchange_that_is_not_there_is_404() -> None:
    with pytest.raises(AmqpError) as raised:
        routed(predeclared(), "nowhere", "k")
    assert raised.value.code == 404
    assert raised.value.text == "NOT_FOUND - no exchange 'nowhere' in vhost '/'"


def test_an_unmirrored_queue_whose_home_is_down_is_no_queue() -> None:
    tables = predeclared()
    tables.queues["q"] = record("q", None, home="ref2")
    assert targets(tables, "", "q") == ()


def test_a_mirrored_queue_without_any_replica_is_still_a_queue() -> None:
    tables = predeclared()
    tables.queues["q"] = record("q", None, home="ref2")
    PutPolicy(Policy("ha", "^q", {"ha-mode": "all"}, 0, "queues")).apply(tables)
    assert targets(tables, "", "q") == (Target("q", (), None),)


def test_a_mirrored_queue_absent_after_full_outage_is_not_routed() -> None:
    """Route nothing to a mirrored queue after all nodes were down, until its home node is back."""
    tables = predeclared()
    tables.queues["q"] = replace(record("q", None, MIRROR), is_absent=True)
    PutPolicy(Policy("ha", "^q", {"ha-mode": "all"}, 0, "queues")).apply(tables)
    assert targets(tables, "", "q") == ()


def test_mirrors_without_a_master_get_their_copies() -> None:
    tables = predeclared()
    tables.queues["q"] = record("q", None, MIRROR)
    assert targets(tables, "", "q") == (Target("q", (MIRROR,), None),)


def test_routes_are_cached_until_the_tables_change() -> None:
    router, tables = Router(10), tables_with("q")
    found = router.targets(tables, "", "q", NO_PROPERTIES)
    assert router.targets(tables, "", "q", NO_PROPERTIES) is found
    tables.queues["q"] = record("q", MIRROR)
    tables.version += 1
    assert router.targets(tables, "", "q", NO_PROPERTIES) == (Target("q", (MIRROR,), MIRROR),)


def test_no_more_routes_are_remembered_than_it_may() -> None:
    router, tables = Router(3), tables_with("q")
    for key in map(str, range(20)):
        router.targets(tables, "", key, NO_PROPERTIES)
        assert len(router._routes) <= 3


def test_a_deleted_exchange_leaves_the_links_to_it_behind_nowhere() -> None:
    tables = tables_with("q")
    declare(tables, "first", "fanout")
    declare(tables, "second", "fanout")
    link(tables, "first", "second")
    bind(tables, "second", "q")
    assert routed(tables, "first", "") == ["q"]
    DeleteExchange("second", if_unused=False).apply(tables)
    assert routed(tables, "first", "") == []


# --- headers, and exchanges for what leads nowhere -----------------------------------------------


def having(**headers: object) -> bytes:
    """Properties as a client sends them."""
    header = pika.frame.Header(1, 0, pika.BasicProperties(headers=headers)).marshal()
    return content_header(header[7:-1])[1]


def by_headers(tables: Tables, queue: str, **arguments: object) -> None:
    named = {name.replace("_", "-"): value for name, value in arguments.items()}
    assert BindQueue(Binding("amq.headers", queue, "", named)).apply(tables) is None


@pytest.mark.parametrize(
    ("arguments", "headers", "led"),
    [
        ({"a": 1, "b": "x"}, {"a": 1, "b": "x", "c": 2}, True),
        ({"a": 1, "b": "x"}, {"a": 1}, False),
        ({"a": 1, "b": "x", "x_match": "any"}, {"a": 1}, True),
        ({"a": 1, "b": "x", "x_match": "any"}, {"a": 2}, False),
        ({"a": None}, {"a": "whatever"}, True),
        ({"a": None}, {}, False),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": 1}, {"a": True}, False),
        ({}, {"a": 1}, True),
        ({"x_match": "any"}, {"a": 1}, False),
        ({"x_tenant": "t"}, {}, True),
        ({"x_tenant": "t", "x_match": "all-with-x"}, {}, False),
        ({"x_tenant": "t", "x_match": "any-with-x"}, {"x-tenant": "t"}, True),
    ],
)
def test_a_headers_exchange_goes_by_headers_and_by_no_key(
    arguments: dict[str, object], headers: dict[str, object], led: bool
) -> None:
    tables = tables_with("q")
    by_headers(tables, "q", **arguments)
    assert routed(tables, "amq.headers", "k", having(**headers)) == ["q"] * led


def test_messages_of_one_key_go_different_ways_by_their_headers() -> None:
    router, tables = Router(10), tables_with("q", "r")
    by_headers(tables, "q", a=1)
    by_headers(tables, "r", a=2)
    declare(tables, "first", "fanout")
    link(tables, "first", "amq.headers")
    ways = [router.targets(tables, "first", "k", having(a=a)) for a in (1, 2, 3)]
    assert [[target.queue for target in way] for way in ways] == [["q"], ["r"], []]


def test_properties_that_cannot_be_read_are_the_clients_error() -> None:
    tables = tables_with("q")
    by_headers(tables, "q", a=1)
    with pytest.raises(AmqpError) as raised:
        routed(tables, "amq.headers", "k", having(a=1)[:-2])
    assert raised.value.code == 502


def with_alternate(tables: Tables, name: str, other: str) -> None:
    exchange = Exchange(name, "direct", False, False, False, {"alternate-exchange": other})
    assert DeclareExchange(exchange).apply(tables) is None


def test_only_unroutable_messages_go_to_the_alternate_exchange() -> None:
    tables = tables_with("q", "r")
    with_alternate(tables, "first", "amq.fanout")
    bind(tables, "first", "q", "k")
    bind(tables, "amq.fanout", "r")
    assert routed(tables, "first", "k") == ["q"]
    assert routed(tables, "first", "other") == ["r"]


def test_an_alternate_may_have_one_itself_and_a_circle_ends() -> None:
    tables = tables_with("q")
    with_alternate(tables, "first", "second")
    with_alternate(tables, "second", "first")
    assert routed(tables, "first", "k") == []
    with_alternate(tables, "third", "fourth")
    with_alternate(tables, "fourth", "amq.fanout")
    bind(tables, "amq.fanout", "q")
    assert routed(tables, "third", "k") == ["q"]


def test_a_missing_alternate_is_ignored_and_the_default_exchange_works() -> None:
    tables = tables_with("q")
    with_alternate(tables, "first", "")
    with_alternate(tables, "second", "nowhere")
    assert routed(tables, "first", "q") == ["q"]
    assert routed(tables, "second", "q") == []


def test_an_exchange_that_feeds_another_has_led_somewhere() -> None:
    tables = tables_with("q")
    with_alternate(tables, "first", "amq.fanout")
    bind(tables, "amq.fanout", "q")
    declare(tables, "deaf", "fanout")
    link(tables, "first", "deaf", "k")
    assert routed(tables, "first", "k") == []
