"""What mqproof itself asks of a proxy, through its own layer over toxiproxy-python and through the
agent: the same scenarios on both servers.

1. Scenarios, as `stories` says; ports are left out.
"""

import asyncio
import time
from collections.abc import Coroutine, Iterator
from typing import Any

from faults.toxiproxy import Toxic, Toxiproxy, ToxiproxyError
from harness.workers.agent_calls.proxies import Proxies
from tests.contract.rig import QUIET_S, Rig, at, timed
from tests.contract.servers import HOST
from tests.contract.stories import Stories

LIMIT_S = 10.0
scenario = Stories()


@scenario
def our_layer_creates_tells_and_deletes_proxies(rig: Rig) -> Iterator[str]:
    layer = _layer(rig)
    upstream = at(rig.upstream)
    made = layer.create("run.1 ?%", upstream, listen=f"{HOST}:0")
    proxies = layer.proxies()
    yield f"{sorted(proxies)}, made as told: {made == proxies['run.1 ?%']}"
    yield f"enabled {made.enabled}, toxics {made.toxics}, as asked: {made.upstream == upstream}"
    rig.address = (HOST, made.port)
    rig.pair()
    yield "bytes pass"
    layer.delete("run.1 ?%")
    yield f"{sorted(layer.proxies())}, {rig.refused()}"


@scenario
def our_layer_disables_and_enables(rig: Rig) -> Iterator[str]:
    layer = _layer(rig)
    yield f"enabled {layer.enable('p', False).enabled}, {rig.refused()}"
    yield f"enabled {layer.enable('p', True).enabled}"
    rig.pair()
    yield "bytes pass"


@scenario
def our_layer_raises_every_error_with_its_status(rig: Rig) -> Iterator[str]:
    layer = _layer(rig)
    busy = rig.listen()
    layer.add_toxic("p", Toxic("t", "latency", "upstream", {"latency": 1}))
    for name, call in (
        ("a name that is taken", lambda: layer.create("p", "u:1", f"{HOST}:0")),
        ("an address in use", lambda: layer.create("q", "u:1", at(busy))),
        ("no proxy", lambda: layer.delete("q")),
        ("no proxy to enable", lambda: layer.enable("q", True)),
        ("no toxic", lambda: layer.remove_toxic("p", "u")),
        ("no toxic to release", lambda: layer.release("p", "u")),
        ("no proxy of a toxic", lambda: layer.remove_toxic("q", "t")),
        (
            "a toxic that is there",
            lambda: layer.add_toxic("p", Toxic("t", "noop", "upstream", {})),
        ),
        ("no such type", lambda: layer.add_toxic("p", Toxic("u", "nosuch", "upstream", {}))),
        ("no such stream", lambda: layer.add_toxic("p", Toxic("u", "noop", "sideways", {}))),
    ):
        try:
            call()
        except ToxiproxyError as error:
            text = error.text.replace(at(busy), "<busy>")
            yield f"{name}: {error.status} {text}, absent {error.absent}"
        else:
            yield f"{name}: no error"


@scenario
def our_layer_stalls_and_releases_without_loss(rig: Rig) -> Iterator[str]:
    layer = _layer(rig)
    client, server = rig.pair()
    for stream in ("upstream", "downstream"):
        layer.add_toxic("p", Toxic(f"stall_{stream}", "bandwidth", stream, {"rate": 0}))
    yield f"{layer.proxies()['p'].toxics}"
    client.send("question")
    server.send("answer")
    yield f"client: {client.quiet()}, server: {server.quiet()}"
    layer.release("p", "stall_upstream")
    yield f"client: {client.quiet()}, server: {server.soon()}"
    layer.release("p", "stall_downstream")
    yield f"client: {client.soon()}"
    for stream in ("upstream", "downstream"):
        layer.remove_toxic("p", f"stall_{stream}")
    yield f"{layer.proxies()['p'].toxics}"
    client.send("later")
    yield f"server: {server.soon()}"


@scenario
def a_release_does_not_wait_for_a_client_that_has_gone(rig: Rig) -> Iterator[str]:
    layer = _layer(rig)
    client, server = rig.pair()
    layer.add_toxic("p", Toxic("stall", "bandwidth", "downstream", {"rate": 0}))
    server.send("held")
    yield f"client: {client.quiet()}"
    client.close()
    yield f"server: {server.soon()}"

    def gone() -> str:
        layer.release("p", "stall")
        layer.remove_toxic("p", "stall")
        return f"{layer.proxies()['p'].toxics}"

    yield timed(0, gone)


@scenario
def our_layer_resets(rig: Rig) -> Iterator[str]:
    layer = _layer(rig)
    layer.add_toxic("p", Toxic("t", "bandwidth", "upstream", {"rate": 0}))
    layer.enable("p", False)
    layer.reset()
    state = layer.proxies()["p"]
    yield f"enabled {state.enabled}, toxics {state.toxics}"


@scenario
def the_agent_stalls_every_link_at_once_and_releases_them(rig: Rig) -> Iterator[str]:
    proxies = Proxies(_layer(rig), LIMIT_S, HOST)
    names = [f"link.{i}" for i in range(4)]
    pairs = []
    for name in names:
        made = _play(proxies.create(name, at(rig.upstream)))
        rig.address = (HOST, made["port"])
        pairs.append(rig.pair())
    streams = ["upstream", "downstream"]
    _play(proxies.add(names, "stall", "bandwidth", streams, {"rate": 0}))
    for client, server in pairs:
        client.send("question")
        server.send("answer")
    yield f"silent: {[(c.quiet(), s.quiet()) == ('silent', 'silent') for c, s in pairs[:1]]}"
    _play(proxies.remove(names, "stall"))
    yield f"after: {sorted({(client.soon(), server.soon()) for client, server in pairs})}"
    _play(proxies.remove(names, "stall"))
    yield f"left: {[_layer(rig).proxies()[name].toxics for name in names]}"
    yield f"deleted: {_play(proxies.delete('link.'))}, {sorted(_layer(rig).proxies())}"


@scenario
def an_addition_of_the_agent_that_fails_halfway_is_taken_back(rig: Rig) -> Iterator[str]:
    proxies = Proxies(_layer(rig), LIMIT_S, HOST)
    try:
        _play(proxies.add(["p", "nowhere"], "stall", "bandwidth", ["upstream"], {"rate": 0}))
    except Exception as error:
        yield f"{type(error).__name__}"
    yield f"left: {_layer(rig).proxies()['p'].toxics}"


@scenario
def the_agent_closes_links_and_takes_new_ones_at_the_same_address(rig: Rig) -> Iterator[str]:
    proxies = Proxies(_layer(rig), LIMIT_S, HOST)
    client, server = rig.pair()
    _play(proxies.enable(["p"], False))
    yield f"client: {client.soon()}, server: {server.soon()}, new: {rig.refused()}"
    _play(proxies.enable(["p", "gone"], True))
    _play(proxies.enable(["p"], True))
    rig.pair()
    yield "bytes pass"


@scenario
def a_disabling_of_the_agent_that_fails_halfway_is_taken_back(rig: Rig) -> Iterator[str]:
    proxies = Proxies(_layer(rig), LIMIT_S, HOST)
    try:
        _play(proxies.enable(["p", "nowhere"], False))
    except Exception as error:
        yield f"{type(error).__name__}"
    rig.pair()
    yield "bytes pass"


@scenario
def links_made_after_a_closing_with_a_reset_are_reset(rig: Rig) -> Iterator[str]:
    """In the order in which a `reset` is armed and undone."""
    proxies = Proxies(_layer(rig), LIMIT_S, HOST)
    old, _ = rig.pair()
    _play(proxies.enable(["p"], False))
    _play(proxies.add(["p"], "r", "reset_peer", ["upstream", "downstream"], {"timeout": 0}))
    _play(proxies.enable(["p"], True))
    new, server = rig.new_pair()
    new.send("x")
    yield f"old: {old.soon()}, new: {new.soon()}, server: {server.soon()}"
    _play(proxies.remove(["p"], "r"))
    _play(proxies.enable(["p"], True))
    rig.pair()
    yield "bytes pass"


@scenario
def a_limit_in_both_directions_is_reached_to_the_byte_by_what_comes_down(
    rig: Rig,
) -> Iterator[str]:
    proxies = Proxies(_layer(rig), LIMIT_S, HOST)
    client, server = rig.pair()
    _play(proxies.add(["p"], "l", "limit_data", ["upstream", "downstream"], {"bytes": 100_000}))
    server.send("x" * 100_001)
    yield f"client: {client.whole(100_001)}"


@scenario
def the_agents_reset_delivers_what_is_held(rig: Rig) -> Iterator[str]:
    proxies = Proxies(_layer(rig), LIMIT_S, HOST)
    client, server = rig.pair()
    _play(proxies.add(["p"], "stall", "bandwidth", ["downstream"], {"rate": 0}))
    server.send("held")
    yield f"client: {client.quiet()}"
    began = time.monotonic()
    _play(proxies.reset())
    soon = time.monotonic() - began < 4 * QUIET_S + 1
    yield f"client: {client.soon()}, soon: {soon}"


def _layer(rig: Rig) -> Toxiproxy:
    return Toxiproxy(HOST, rig.server.port)


def _play(work: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    return asyncio.run(work)
