"""What happens to connections when their proxy comes, goes or changes.

1. Scenarios, as `stories` says.
"""

from collections.abc import Iterator

from tests.contract.rig import PROXY_HOST, Rig, at
from tests.contract.stories import Stories, alive

scenario = Stories()


@scenario
def a_disabled_proxy_ends_its_connections_and_refuses_new_ones(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.change(enabled=False)
    yield f"client: {client.soon()}, server: {server.soon()}, new: {rig.refused()}"
    rig.change(enabled=True)
    client, server = rig.pair()
    yield "enabled again: bytes pass"


@scenario
def a_deleted_proxy_ends_its_connections_and_refuses_new_ones(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.ask("DELETE", "/proxies/p")
    yield f"client: {client.soon()}, server: {server.soon()}, new: {rig.refused()}"


@scenario
def another_upstream_ends_the_connections_and_leads_new_ones_there(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    other = rig.listen()
    rig.change(upstream=at(other))
    yield f"client: {client.soon()}, server: {server.soon()}"
    rig.pair(other)
    yield "new: bytes pass to the other"


@scenario
def another_address_ends_the_connections_and_is_where_new_ones_go(rig: Rig) -> Iterator[str]:
    client, _ = rig.pair()
    moved = rig.change(listen=f"{PROXY_HOST}:0")
    yield f"client: {client.soon()}, old address: {rig.refused()}"
    host, _, port = moved["listen"].rpartition(":")
    rig.address = (host, int(port))
    rig.pair()
    yield "new address: bytes pass"


@scenario
def an_update_that_changes_nothing_leaves_connections_alone(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.change(upstream=at(rig.upstream), enabled=True)
    yield from alive(client, server)


@scenario
def populating_with_the_same_leaves_connections_alone(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    listen = f"{rig.address[0]}:{rig.address[1]}"
    entry = {"name": "p", "listen": listen, "upstream": at(rig.upstream), "enabled": True}
    rig.ask("POST", "/populate", [entry])
    yield from alive(client, server)


@scenario
def populating_with_another_ends_the_connections(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    listen = f"{rig.address[0]}:{rig.address[1]}"
    entry = {"name": "p", "listen": listen, "upstream": at(rig.listen()), "enabled": True}
    rig.ask("POST", "/populate", [entry])
    yield f"client: {client.soon()}, server: {server.soon()}"


@scenario
def toxics_outlive_a_disabling(rig: Rig) -> Iterator[str]:
    rig.toxic("timeout")
    rig.change(enabled=False)
    rig.change(enabled=True)
    client, server = rig.new_pair()
    server.send("answer")
    yield f"client: {client.quiet()}"


@scenario
def a_reset_of_the_server_state_releases_what_is_held(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    rig.toxic("bandwidth", rate=0)
    server.send("held")
    yield f"client: {client.quiet()}"
    rig.ask("POST", "/reset")
    yield f"client: {client.soon()}"
    yield from alive(client, server)


@scenario
def a_reset_of_the_server_state_enables(rig: Rig) -> Iterator[str]:
    rig.change(enabled=False)
    rig.ask("POST", "/reset")
    rig.pair()
    yield "bytes pass"
