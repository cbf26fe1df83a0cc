"""PURE: the configuration file of one server.

1. Routes are the ways to the peers that the deployment says. Servers also tell each other where
   they can be reached. If ways pass a proxy, that leads nowhere: they would dial past the proxy.
2. `sync_always` is the documented setting that makes a server sync each message before it
   acknowledges it. Without it the server's own default stands: 2 minutes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from mqproof_nats.names import APPLICATION, CLUSTER, SYSTEM

_NOWHERE_PORT = 1  # no server listens at it


@dataclass(frozen=True, slots=True)
class Listens:
    """Where a server listens."""

    address: str
    client_port: int
    monitoring_port: int
    route_port: int


def configuration(
    name: str,
    listens: Listens,
    peers: Mapping[str, tuple[str, int]],
    data: str,
    secret: str,
    sync_always: bool,
    proxied: bool,
    log: str,
) -> str:
    """Return the text of a server's file. `peers`: where it dials the other servers.

    `secret`: what only servers of this cluster know; `log`: a file, "" for standard error.
    """
    own = listens.address
    routes = ", ".join(
        _text(f"nats-route://{CLUSTER}:{secret}@{address}:{port}")
        for address, port in peers.values()
    )
    sync = "\n  sync_interval: always" if sync_always else ""
    advertised = f"\n  advertise: {_text(f'{own}:{_NOWHERE_PORT}')}" if proxied else ""
    log_line = f"log_file: {_text(log)}\n" if log else ""
    return f"""server_name: {name}
listen: {_text(f"{own}:{listens.client_port}")}
http: {_text(f"{own}:{listens.monitoring_port}")}
{log_line}accounts {{
  APPLICATION {{ jetstream: enabled, users: [{_user(*APPLICATION)}] }}
  SYSTEM {{ users: [{_user(*SYSTEM)}] }}
}}
system_account: SYSTEM
jetstream {{
  store_dir: {_text(data)}{sync}
}}
cluster {{
  name: {CLUSTER}
  listen: {_text(f"{own}:{listens.route_port}")}{advertised}
  no_advertise: true
  authorization {{ user: {CLUSTER}, password: {_text(secret)} }}
  routes: [{routes}]
}}
"""


def _user(user: str, password: str) -> str:
    return f"{{ user: {_text(user)}, password: {_text(password)} }}"


def _text(value: str) -> str:
    return json.dumps(value)
