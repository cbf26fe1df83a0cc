"""`timeout`, as both ends of a connection see it.

1. Scenarios, as `stories` says.
"""

from collections.abc import Iterator

from tests.contract.rig import Rig, timed
from tests.contract.stories import Stories, alive

scenario = Stories()


@scenario
def a_timeout_downstream_drops_answers_for_ever(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("timeout", timeout=0)
    client.send("question")
    yield f"server: {server.soon()}"
    server.send("answer")
    yield f"client: {client.quiet()}"


@scenario
def a_connection_made_during_a_timeout_is_as_silent(rig: Rig) -> Iterator[str]:
    rig.toxic("timeout", timeout=0)
    client, server = rig.new_pair()
    client.send("question")
    yield f"server: {server.soon()}"
    server.send("answer")
    yield f"client: {client.quiet()}"


@scenario
def a_timeout_upstream_drops_questions(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("timeout", "upstream", timeout=0)
    client.send("question")
    yield f"server: {server.quiet()}"
    server.send("answer")
    yield f"client: {client.soon()}"


@scenario
def the_end_of_a_timeout_ends_the_connection(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("timeout", timeout=0)
    server.send("dropped")
    yield f"client: {client.quiet()}"
    rig.remove("timeout_downstream")
    yield f"client: {client.soon()}, server: {server.soon()}"
    rig.pair()
    yield "new: bytes pass"


@scenario
def the_end_of_the_first_of_two_timeouts_ends_the_connection(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("timeout", "upstream", timeout=0)
    rig.toxic("timeout", "downstream", timeout=0)
    rig.remove("timeout_upstream")
    yield f"server: {server.soon()}, client: {client.soon()}"


@scenario
def a_timeout_of_a_while_ends_the_connection_after_it(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()

    def end() -> str:
        rig.toxic("timeout", timeout=400)
        return client.soon()

    yield timed(400, end)
    yield f"server: {server.soon()}"


@scenario
def a_timeout_of_a_while_counts_from_the_connecting(rig: Rig) -> Iterator[str]:
    rig.toxic("timeout", timeout=400)
    client = rig.connect()
    yield timed(400, client.soon)


@scenario
def bytes_that_come_start_the_timeout_anew(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("timeout", timeout=700)
    for _ in range(5):
        server.send("x")
        yield f"client: {client.quiet()}"
    yield f"client: {client.soon()}"


@scenario
def an_end_of_the_server_passes_a_timeout(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("timeout", timeout=0)
    server.close()
    yield f"client: {client.soon()}"


@scenario
def an_end_of_the_client_passes_a_timeout(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("timeout", timeout=0)
    client.close()
    yield f"server: {server.soon()}"


@scenario
def a_disabling_during_a_timeout_ends_the_connection(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("timeout", timeout=0)
    rig.change(enabled=False)
    yield f"client: {client.soon()}, server: {server.soon()}, new: {rig.refused()}"


@scenario
def a_timeout_whose_toxicity_becomes_0_lets_later_bytes_pass(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("timeout", timeout=0)
    server.send("dropped")
    yield f"client: {client.quiet()}"
    rig.update("timeout_downstream", toxicity=0)
    server.send("later")
    yield f"client: {client.soon()}"


@scenario
def even_a_timeout_without_effect_ends_the_connection_when_it_goes(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("timeout", toxicity=0, timeout=0)
    yield from alive(client, server)
    rig.remove("timeout_downstream")
    yield f"client: {client.soon()}, server: {server.soon()}"
