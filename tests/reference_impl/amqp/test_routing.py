"""From exchange and key to queues, and to the processes that get a copy."""

import pytest

from reference_impl.amqp.errors import AmqpError
from reference_impl.amqp.routing import Router, Target, routed, targets
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


def test_mirrors_without_a_master_get_their_copies() -> None:
    tables = predeclared()
    tables.queues["q"] = record("q", None, MIRROR)
    assert targets(tables, "", "q") == (Target("q", (MIRROR,), None),)


def test_what_was_found_is_remembered_until_the_tables_change() -> None:
    router, tables = Router(10), tables_with("q")
    found = router.targets(tables, "", "q")
    assert router.targets(tables, "", "q") is found
    tables.queues["q"] = record("q", MIRROR)
    tables.version += 1
    assert router.targets(tables, "", "q") == (Target("q", (MIRROR,), MIRROR),)


def test_no_more_routes_are_remembered_than_it_may() -> None:
    router, tables = Router(3), tables_with("q")
    for key in map(str, range(20)):
        router.targets(tables, "", key)
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
