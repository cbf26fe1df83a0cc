"""Toxicity, and several toxics on one connection.

1. Scenarios, as `stories` says.
"""

from collections.abc import Iterator

from tests.contract.rig import Rig, timed
from tests.contract.stories import Stories, alive

scenario = Stories()


@scenario
def a_toxicity_of_0_is_no_toxic(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("bandwidth", toxicity=0, rate=0)
    yield from alive(client, server)
    client, server = rig.pair()
    yield from alive(client, server)


@scenario
def a_toxicity_that_becomes_1_takes_effect_on_what_stands(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("bandwidth", toxicity=0, rate=0)
    rig.update("bandwidth_downstream", toxicity=1)
    server.send("held")
    yield f"client: {client.quiet()}"
    rig.update("bandwidth_downstream", toxicity=0)
    yield f"client: {client.soon()}"


@scenario
def two_latencies_add_up(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    for name in ("first", "second"):
        body = {"name": name, "type": "latency", "attributes": {"latency": 200}}
        rig.ask("POST", "/proxies/p/toxics", body)
    server.send("x")
    yield timed(400, client.soon)


@scenario
def a_stall_behind_a_latency_holds_what_the_latency_lets_go(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("latency", latency=50)
    rig.toxic("bandwidth", rate=0)
    server.send("held")
    yield f"client: {client.quiet()}"
    rig.remove("latency_downstream")
    yield f"client: {client.quiet()}"
    rig.remove("bandwidth_downstream")
    yield f"client: {client.soon()}"


@scenario
def removing_a_timeout_behind_a_stall_ends_the_connection(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("bandwidth", rate=0)
    rig.toxic("timeout", timeout=0)
    server.send("held")
    yield f"client: {client.quiet()}"
    rig.remove("timeout_downstream")
    yield f"client: {client.soon()}, server: {server.soon()}"


@scenario
def a_toxic_that_comes_later_works_on_what_an_earlier_one_lets_go(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("latency", latency=200)
    rig.toxic("limit_data", bytes=3)
    server.send("12345")
    yield timed(200, lambda: client.whole(100))
