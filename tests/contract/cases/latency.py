"""`latency`, as both ends see it.

1. Scenarios, as `stories` says.
"""

import time
from collections.abc import Iterator

from tests.contract.rig import Rig, timed
from tests.contract.stories import Stories, alive, bulk

scenario = Stories()


@scenario
def latency_delays_each_piece(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("latency", latency=300)
    server.send("one")
    yield timed(300, client.soon)
    server.send("two")
    yield timed(300, client.soon)
    client.send("back")
    yield timed(0, server.soon)


@scenario
def latency_upstream_delays_the_other_way(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("latency", "upstream", latency=300)
    client.send("there")
    yield timed(300, server.soon)
    server.send("back")
    yield timed(0, client.soon)


@scenario
def latency_delays_new_connections_bytes_not_their_connecting(rig: Rig) -> Iterator[str]:
    rig.toxic("latency", latency=300)
    client, server = rig.new_pair()
    server.send("greeting")
    yield timed(300, client.soon)


@scenario
def pieces_in_latency_do_not_wait_for_each_other(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("latency", latency=400)
    one_sent = time.monotonic()
    server.send("one")
    yield f"client: {client.quiet()}"
    two_sent = time.monotonic()
    server.send("two")
    yield timed(400, client.soon, one_sent)
    yield timed(400, client.soon, two_sent)


@scenario
def an_end_waits_for_what_latency_holds(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("latency", latency=400)
    server.send("held")
    server.close()
    yield timed(400, client.soon)
    yield timed(0, client.soon)


@scenario
def what_latency_holds_arrives_when_it_is_removed(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("latency", latency=20_000)
    for word in ("one ", "two ", "three"):
        server.send(word)
        yield f"client: {client.quiet()}"
    rig.remove("latency_downstream")
    yield timed(0, lambda: client.whole(13))
    yield from alive(client, server)


@scenario
def an_update_lets_the_first_piece_of_a_latency_go(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("latency", latency=20_000)
    server.send("held")
    yield f"client: {client.quiet()}"
    rig.update("latency_downstream", attributes={"latency": 300})
    yield timed(0, client.soon)
    server.send("later")
    yield timed(300, client.soon)


@scenario
def another_toxic_behind_a_latency_lets_its_first_piece_go(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("latency", latency=20_000)
    server.send("held")
    yield f"client: {client.quiet()}"
    rig.toxic("timeout", timeout=0)
    yield timed(0, client.soon)
    server.send("dropped")
    yield f"client: {client.quiet()}"


@scenario
def jitter_stays_in_its_range(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("latency", latency=300, jitter=100)
    server.send("x")
    began = time.monotonic()
    seen = client.soon()
    took_ms = (time.monotonic() - began) * 1000
    yield seen if 190 <= took_ms <= 1_300 else f"{seen} after {took_ms:.0f} ms"


@scenario
def much_passes_latency_intact(rig: Rig) -> Iterator[str]:
    for stream in ("upstream", "downstream"):
        rig.toxic("latency", stream, latency=50, jitter=40)
    yield from bulk(rig)
