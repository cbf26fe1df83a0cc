"""Connections through a proxy without a toxic.

1. Scenarios, as `stories` says.
"""

from collections.abc import Iterator

from tests.contract.rig import Rig
from tests.contract.stories import Stories, bulk

MANY = 100
scenario = Stories()


@scenario
def bytes_pass_both_ways(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    client.send("question")
    yield f"server: {server.soon()}"
    server.send("answer")
    yield f"client: {client.soon()}"
    server.send("unasked")
    yield f"client: {client.soon()}"


@scenario
def much_passes_intact(rig: Rig) -> Iterator[str]:
    yield from bulk(rig)


@scenario
def many_connections_are_kept_apart(rig: Rig) -> Iterator[str]:
    pairs = [rig.pair() for _ in range(MANY)]
    for i, (client, _) in enumerate(pairs):
        client.send(f"question {i}")
    for i, (_, server) in enumerate(pairs):
        server.send(f"answer {i}")
    right = [
        (client.soon(), server.soon()) == (f"'answer {i}'", f"'question {i}'")
        for i, (client, server) in enumerate(pairs)
    ]
    yield f"{sum(right)} of {MANY} heard what was for them"


@scenario
def an_end_of_the_server_ends_the_client(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    server.close()
    yield f"client: {client.soon()}"


@scenario
def an_end_of_the_client_ends_the_server(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    client.close()
    yield f"server: {server.soon()}"


@scenario
def what_was_sent_before_the_end_arrives_before_the_end(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    server.send("last words")
    server.close()
    yield f"client: {client.whole(100)}"


@scenario
def a_client_that_only_stops_sending_is_closed_altogether(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    client.finish()
    yield f"server: {server.soon()}"
    yield f"client: {client.soon()}"


@scenario
def a_server_that_only_stops_sending_is_closed_altogether(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    server.finish()
    yield f"client: {client.soon()}"
    yield f"server: {server.soon()}"


@scenario
def a_reset_of_the_client_is_an_end_to_the_server(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    client.reset()
    yield f"server: {server.soon()}"


@scenario
def a_reset_of_the_server_is_an_end_to_the_client(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    server.reset()
    yield f"client: {client.soon()}"


@scenario
def a_dead_upstream_is_accepted_and_then_ended(rig: Rig) -> Iterator[str]:
    rig.upstream.close()
    client = rig.connect()
    yield f"client: {client.soon()}"


@scenario
def an_upstream_that_is_no_address_is_accepted_and_then_ended(rig: Rig) -> Iterator[str]:
    rig.change(upstream="nowhere")
    yield f"client: {rig.connect().soon()}"
