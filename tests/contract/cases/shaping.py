"""`slow_close`, `slicer` and `noop`, as both ends see them.

1. Scenarios, as `stories` says.
"""

import time
from collections.abc import Iterator

from tests.contract.rig import Rig, timed
from tests.contract.stories import Stories, alive

scenario = Stories()


@scenario
def a_slow_close_delays_the_end_only(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("slow_close", delay=400)
    server.send("last words")
    yield timed(0, client.soon)
    server.close()
    yield timed(400, client.soon)


@scenario
def a_slow_close_upstream_delays_the_clients_end(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("slow_close", "upstream", delay=400)
    client.close()
    yield timed(400, server.soon)


@scenario
def the_end_of_a_slow_close_brings_the_end(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("slow_close", delay=20_000)
    server.close()
    yield f"client: {client.quiet()}"
    rig.remove("slow_close_downstream")
    yield f"client: {client.soon()}"


@scenario
def an_update_starts_a_slow_close_anew(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("slow_close", delay=20_000)
    server.close()
    yield f"client: {client.quiet()}"
    rig.update("slow_close_downstream", attributes={"delay": 400})
    yield timed(400, client.soon)


@scenario
def a_slicer_changes_the_pace_and_no_byte(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("slicer", average_size=64, size_variation=16, delay=20_000)
    text = "".join(chr(ord("a") + i % 26) for i in range(1_000))
    server.send(text)
    began = time.monotonic()
    yield client.intact(text.encode())
    took_ms = (time.monotonic() - began) * 1000
    yield "in some 100 ms" if 150 < took_ms < 1_800 else f"in {took_ms:.0f} ms"


@scenario
def the_end_of_a_slicer_brings_the_rest(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("slicer", average_size=10, size_variation=0, delay=5_000_000)
    server.send("x" * 1_000)
    yield f"client: {client.quiet()}, then {client.quiet()}"
    rig.remove("slicer_downstream")
    yield timed(0, lambda: client.whole(992))


@scenario
def a_toxic_of_the_type_noop_does_nothing(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("noop")
    yield from alive(client, server)
    rig.remove("noop_downstream")
    yield from alive(client, server)
