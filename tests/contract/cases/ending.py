"""`reset_peer` and `limit_data`: the toxics that end a connection, as both ends see it.

1. Scenarios, as `stories` says.
"""

from collections.abc import Iterator

from tests.contract.rig import Rig, timed
from tests.contract.stories import Stories, alive

scenario = Stories()


@scenario
def a_reset_of_an_old_connection_comes_with_its_next_byte_and_is_an_end(
    rig: Rig,
) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("reset_peer", "upstream", timeout=0)
    yield f"client: {client.quiet()}, server: {server.quiet()}"
    client.send("question")
    yield f"server: {server.soon()}, client: {client.soon()}"


@scenario
def a_reset_of_a_new_connection_is_a_reset_on_both_sides(rig: Rig) -> Iterator[str]:
    rig.toxic("reset_peer", "upstream", timeout=0)
    client, server = rig.new_pair()
    yield f"client: {client.quiet()}, server: {server.quiet()}"
    client.send("question")
    yield f"server: {server.soon()}, client: {client.soon()}"


@scenario
def a_reset_downstream_comes_with_the_servers_first_byte(rig: Rig) -> Iterator[str]:
    rig.toxic("reset_peer", timeout=0)
    client, server = rig.new_pair()
    client.send("question")
    yield f"server: {server.soon()}, client: {client.quiet()}"
    server.send("answer")
    yield f"server: {server.soon()}, client: {client.soon()}"


@scenario
def a_reset_after_a_while_comes_so_long_after_the_first_byte(rig: Rig) -> Iterator[str]:
    rig.toxic("reset_peer", "upstream", timeout=400)
    client, _ = rig.new_pair()
    yield f"client: {client.quiet()}"
    client.send("question")
    yield timed(400, client.soon)


@scenario
def a_reset_that_nothing_set_off_goes_without_a_trace(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("reset_peer", timeout=0)
    rig.remove("reset_peer_downstream")
    yield from alive(client, server)


@scenario
def a_connection_made_during_a_reset_keeps_it_for_its_end(rig: Rig) -> Iterator[str]:
    rig.toxic("reset_peer", timeout=0)
    client, server = rig.new_pair()
    yield f"client: {client.quiet()}"
    rig.remove("reset_peer_downstream")
    yield from alive(client, server)
    server.close()
    yield f"client: {client.soon()}"


@scenario
def a_reset_without_effect_still_makes_the_end_a_reset(rig: Rig) -> Iterator[str]:
    rig.toxic("reset_peer", toxicity=0, timeout=0)
    client, server = rig.new_pair()
    yield from alive(client, server)
    rig.change(enabled=False)
    yield f"client: {client.soon()}, server: {server.soon()}"


@scenario
def a_limit_counts_from_when_it_was_added(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    server.send("before")
    yield f"client: {client.soon()}"
    rig.toxic("limit_data", bytes=10)
    server.send("1234567")
    yield f"client: {client.soon()}"
    server.send("890more")
    yield f"client: {client.whole(100)}"
    yield f"server: {server.soon()}"


@scenario
def a_limit_counts_each_new_connection_anew(rig: Rig) -> Iterator[str]:
    rig.toxic("limit_data", bytes=5)
    for _ in range(2):
        client, server = rig.new_pair()
        server.send("1234567")
        yield f"client: {client.whole(100)}"


@scenario
def the_byte_that_reaches_a_limit_ends_the_connection(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("limit_data", "upstream", bytes=5)
    client.send("12345")
    yield f"server: {server.whole(100)}, client: {client.soon()}"


@scenario
def a_limit_of_0_ends_with_the_first_byte(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("limit_data", bytes=0)
    yield f"client: {client.quiet()}"
    server.send("1")
    yield f"client: {client.whole(100)}"


@scenario
def a_limit_that_was_not_reached_goes_without_a_trace(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("limit_data", bytes=100)
    server.send("12345")
    yield f"client: {client.soon()}"
    rig.remove("limit_data_downstream")
    yield from alive(client, server)


@scenario
def a_lower_limit_ends_with_the_next_byte(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("limit_data", bytes=100)
    server.send("12345")
    yield f"client: {client.soon()}"
    rig.update("limit_data_downstream", attributes={"bytes": 3})
    yield f"client: {client.quiet()}"
    server.send("6")
    yield f"client: {client.whole(100)}"


@scenario
def removing_a_limit_that_was_reached_revives_nothing(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("limit_data", bytes=2)
    server.send("12345")
    yield f"client: {client.whole(100)}"
    rig.remove("limit_data_downstream")
    yield f"server: {server.soon()}"
    rig.pair()
    yield "new: bytes pass"
