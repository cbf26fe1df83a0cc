"""Commands on exchanges and bindings (docs/behaviour/rabbitmq.md 2.2, 2.3)."""

from reference_impl.metadata.commands import (
    BindExchange,
    BindQueue,
    DeclareExchange,
    DeleteExchange,
    UnbindExchange,
    UnbindQueue,
)
from reference_impl.metadata.exchanges import (
    forget_queue_bindings,
    forget_transient,
    predeclared,
)
from reference_impl.metadata.tables import Binding, Denied, Exchange, Link, Queue, Tables


def exchange(name: str, **fields: object) -> Exchange:
    wanted = {"kind": "direct", "durable": True, "auto_delete": False, "internal": False}
    return Exchange(name, arguments={}, **{**wanted, **fields})


def queue(name: str, durable: bool = True) -> Queue:
    return Queue(name, durable, False, None, {}, "a", None, (), (), ())


def tables(*exchanges: Exchange, queues: tuple[Queue, ...] = (queue("q"),)) -> Tables:
    made = predeclared()
    for one in exchanges:
        assert DeclareExchange(one).apply(made) is None
    made.queues.update({one.name: one for one in queues})
    return made


def test_an_unused_broker_has_the_predeclared_exchanges() -> None:
    assert set(predeclared().exchanges) == {
        "",
        "amq.direct",
        "amq.fanout",
        "amq.topic",
        "amq.headers",
        "amq.match",
        "amq.rabbitmq.trace",
    }
    assert all(one.durable for one in predeclared().exchanges.values())


def test_the_same_declaration_again_changes_nothing() -> None:
    made = tables(exchange("x"))
    before = made.exchanges["x"]
    assert DeclareExchange(exchange("x")).apply(made) is None
    assert made.exchanges["x"] is before


def test_a_different_declaration_is_denied_with_what_differs() -> None:
    made = tables(exchange("x"))
    before = made.exchanges["x"]
    answers = [
        DeclareExchange(exchange("x", **{field: value})).apply(made)
        for field, value in {"kind": "fanout", "durable": False, "auto_delete": True}.items()
    ]
    text = "inequivalent arg '{}' for exchange 'x' in vhost '/': received '{}' but current is '{}'"
    assert answers == [
        Denied(406, text.format("type", "fanout", "direct")),
        Denied(406, text.format("durable", "false", "true")),
        Denied(406, text.format("auto_delete", "true", "false")),
    ]
    assert made.exchanges["x"] is before


def test_binding_needs_exchange_and_queue() -> None:
    made = tables(exchange("x"))
    assert BindQueue(Binding("y", "q", "k", {})).apply(made) == Denied(
        404, "no exchange 'y' in vhost '/'"
    )
    assert BindQueue(Binding("x", "r", "k", {})).apply(made) == Denied(
        404, "no queue 'r' in vhost '/'"
    )
    assert made.bindings == {}


def test_one_binding_however_often_it_is_made() -> None:
    made = tables(exchange("x"))
    binding = Binding("x", "q", "k", {})
    assert BindQueue(binding).apply(made) is None
    before = made.bindings["x"]
    assert BindQueue(Binding("x", "q", "k", {})).apply(made) is None
    assert made.bindings["x"] is before
    assert BindQueue(Binding("x", "q", "k", {"a": 1})).apply(made) is None
    assert made.bindings["x"] == (binding, Binding("x", "q", "k", {"a": 1}))


def test_unbinding_what_is_not_bound_is_no_error() -> None:
    made = tables(exchange("x", auto_delete=True))
    assert UnbindQueue(Binding("x", "q", "k", {})).apply(made) is None
    assert UnbindQueue(Binding("nowhere", "q", "k", {})).apply(made) is None
    assert UnbindExchange(Link("x", "amq.fanout", "k", {})).apply(made) is None
    assert DeleteExchange("nowhere", False).apply(made) is None
    assert "x" in made.exchanges, "an exchange that never had a binding does not go by itself"


def test_an_auto_delete_exchange_goes_with_its_last_binding() -> None:
    made = tables(exchange("x", auto_delete=True))
    for key in ("k", "l"):
        BindQueue(Binding("x", "q", key, {})).apply(made)
    UnbindQueue(Binding("x", "q", "k", {})).apply(made)
    assert "x" in made.exchanges
    UnbindQueue(Binding("x", "q", "l", {})).apply(made)
    assert "x" not in made.exchanges
    assert made.bindings == {}


def test_an_auto_delete_exchange_with_a_link_stays() -> None:
    made = tables(exchange("x", auto_delete=True))
    BindQueue(Binding("x", "q", "k", {})).apply(made)
    BindExchange(Link("x", "amq.fanout", "", {})).apply(made)
    UnbindQueue(Binding("x", "q", "k", {})).apply(made)
    assert "x" in made.exchanges
    UnbindExchange(Link("x", "amq.fanout", "", {})).apply(made)
    assert "x" not in made.exchanges


def test_deleting_a_destination_may_delete_a_chain_of_sources() -> None:
    made = tables(exchange("x", auto_delete=True), exchange("y", auto_delete=True), exchange("z"))
    BindExchange(Link("x", "y", "", {})).apply(made)
    BindExchange(Link("y", "z", "", {})).apply(made)
    assert DeleteExchange("z", False).apply(made) is None
    assert not {"x", "y", "z"} & set(made.exchanges)
    assert made.links == {}


def test_if_unused_spares_an_exchange_that_is_a_source() -> None:
    made = tables(exchange("x"), exchange("y"))
    BindExchange(Link("x", "y", "", {})).apply(made)
    denied = Denied(406, "exchange 'x' in vhost '/' in use")
    assert DeleteExchange("x", True).apply(made) == denied
    assert DeleteExchange("y", True).apply(made) is None, "a destination only is not in use"
    assert DeleteExchange("x", True).apply(made) is None


def test_links_need_both_exchanges() -> None:
    made = tables(exchange("x"))
    assert BindExchange(Link("x", "y", "", {})).apply(made) == Denied(
        404, "no exchange 'y' in vhost '/'"
    )
    assert BindExchange(Link("y", "x", "", {})).apply(made) == Denied(
        404, "no exchange 'y' in vhost '/'"
    )


def test_deleting_a_queue_removes_only_its_own_bindings() -> None:
    made = tables(exchange("x"), exchange("y", auto_delete=True), queues=(queue("q"), queue("r")))
    for name, of in (("x", "q"), ("x", "r"), ("y", "q")):
        BindQueue(Binding(name, of, "k", {})).apply(made)
    forget_queue_bindings(made, "q")
    assert made.bindings == {"x": (Binding("x", "r", "k", {}),)}
    assert "y" not in made.exchanges


def test_transient_exchanges_do_not_survive_a_full_stop() -> None:
    made = tables(
        exchange("durable"),
        exchange("transient", durable=False),
        exchange("chained", durable=False, auto_delete=True),
        queues=(queue("q"), queue("t", durable=False)),
    )
    BindQueue(Binding("durable", "q", "k", {})).apply(made)
    BindQueue(Binding("durable", "t", "k", {})).apply(made)
    BindQueue(Binding("transient", "q", "k", {})).apply(made)
    BindExchange(Link("chained", "transient", "", {})).apply(made)
    forget_transient(made)
    assert {"transient", "chained"} & set(made.exchanges) == set()
    assert made.bindings == {"durable": (Binding("durable", "q", "k", {}),)}
    assert made.links == {}
