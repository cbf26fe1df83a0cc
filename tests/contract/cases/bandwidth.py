"""`bandwidth`, as both ends see it: rate 0 is a stall, and any other a pace.

1. Scenarios, as `stories` says.
"""

from collections.abc import Iterator

from tests.contract.rig import Rig, timed
from tests.contract.stories import Stories, alive, stall

scenario = Stories()


@scenario
def a_stall_holds_and_delivers_when_it_is_removed(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("bandwidth", rate=0)
    server.send("held")
    yield f"client: {client.quiet()}"
    rig.remove("bandwidth_downstream")
    yield f"client: {client.soon()}"
    yield from alive(client, server)


@scenario
def a_stall_holds_new_connections_too(rig: Rig) -> Iterator[str]:
    rig.toxic("bandwidth", "upstream", rate=0)
    client, server = rig.new_pair()
    client.send("held")
    yield f"server: {server.quiet()}"
    rig.remove("bandwidth_upstream")
    yield f"server: {server.soon()}"
    yield from alive(client, server)


@scenario
def a_stall_delivers_when_its_toxicity_becomes_0(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    stall(rig)
    client.send("question")
    server.send("answer")
    yield f"client: {client.quiet()}, server: {server.quiet()}"
    for stream in ("upstream", "downstream"):
        rig.update(f"bandwidth_{stream}", toxicity=0)
    yield f"client: {client.soon()}, server: {server.soon()}"
    yield from alive(client, server)
    for stream in ("upstream", "downstream"):
        rig.remove(f"bandwidth_{stream}")
    yield from alive(client, server)


@scenario
def a_stall_works_in_its_own_direction_only(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("bandwidth", rate=0)
    client.send("question")
    yield f"server: {server.soon()}"


@scenario
def a_servers_end_waits_behind_what_a_stall_holds(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("bandwidth", rate=0)
    server.send("held")
    server.close()
    yield f"client: {client.quiet()}"
    rig.remove("bandwidth_downstream")
    yield f"client: {client.whole(100)}"


@scenario
def an_end_passes_a_stall_that_holds_nothing(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    stall(rig)
    server.close()
    yield f"client: {client.soon()}"


@scenario
def a_clients_end_passes_a_stall_of_answers(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("bandwidth", rate=0)
    server.send("held")
    yield f"client: {client.quiet()}"
    client.close()
    yield f"server: {server.soon()}"


@scenario
def a_clients_end_waits_in_a_stall_of_both_ways(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    stall(rig)
    client.send("held")
    client.close()
    yield f"server: {server.quiet()}"
    rig.update("bandwidth_upstream", toxicity=0)
    yield f"server: {server.whole(100)}"
    rig.remove("bandwidth_upstream")
    yield "removed"


@scenario
def a_stall_takes_some_megabytes_and_loses_none(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("bandwidth", "upstream", rate=0)
    taken = client.fill(32 << 20)
    yield "1 to 12 MB are taken" if 1_000_000 < taken < 12_000_000 else f"{taken} bytes are taken"
    rig.update("bandwidth_upstream", toxicity=0)
    yield "all arrive" if server.intact(b"x" * taken).startswith("all") else "some are lost"


@scenario
def a_rate_of_10_takes_100_ms_a_kilobyte(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("bandwidth", rate=10)
    server.send("x" * 5_000)
    yield timed(500, lambda: client.whole(5_000))


@scenario
def a_slow_rate_gives_portions_of_100_ms(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("bandwidth", rate=1)
    server.send("x" * 250)
    yield timed(100, lambda: client.whole(100))
    yield timed(150, lambda: client.whole(150))


@scenario
def a_rate_counts_over_many_pieces(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("bandwidth", rate=50)

    def answers() -> str:
        for _ in range(20):
            server.send("x" * 1_000)
        return client.whole(20_000)

    yield timed(400, answers)


@scenario
def what_a_slow_rate_has_in_hand_arrives_when_it_is_removed(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("bandwidth", rate=1)
    server.send("x" * 3_000)
    yield f"client: {client.whole(100)}"
    rig.remove("bandwidth_downstream")
    yield timed(0, lambda: client.whole(2_900))
