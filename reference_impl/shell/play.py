"""A cluster of nodes on 127.0.0.1 to play with: one operating system process a node.

1. Node i listens for clients on port + i, for the management API on port + 10000 + i, for its
   peers on port + 20000 + i, as RabbitMQ's defaults lie.
2. Data lies in a temporary folder that no other user may read; with the cluster it goes, and so
   does the cookie that was drawn for it.
"""

import secrets
from dataclasses import dataclass
from pathlib import Path

import msgspec

from reference_impl.node.config import Config, Handling
from reference_impl.shell.children import Children
from reference_impl.shell.playground import HOST, NotStarted, play_in

API_OFFSET, PEER_OFFSET = 10_000, 20_000
COOKIE_OCTETS = 32


@dataclass(frozen=True, slots=True)
class Playing:
    """The options of a playground."""

    nodes: int
    port: int
    net_ticktime_s: float
    partition_handling: Handling


def configs(playing: Playing, folder: Path, cookie: str) -> list[Config]:
    """One configuration a node."""
    names = [f"ref{number}" for number in range(1, playing.nodes + 1)]
    peer_ports = {name: playing.port + PEER_OFFSET + place for place, name in enumerate(names)}
    return [
        Config(
            name=name,
            bind=HOST,
            data=str(folder / name),
            cookie=cookie,
            peers={peer: (HOST, port) for peer, port in peer_ports.items() if peer != name},
            amqp_port=playing.port + place,
            api_port=playing.port + API_OFFSET + place,
            peer_port=peer_ports[name],
            net_ticktime_s=playing.net_ticktime_s,
            partition_handling=playing.partition_handling,
            log=str(folder / f"{name}.log"),
        )
        for place, name in enumerate(names)
    ]


def play(playing: Playing) -> int:
    """Until Ctrl-C or SIGTERM, or until the last node has ended; the exit status."""

    def begin(folder: Path, children: Children) -> None:
        made = configs(playing, folder, secrets.token_hex(COOKIE_OCTETS))
        for config in made:
            file = folder / f"{config.name}.json"
            file.write_bytes(msgspec.json.encode(config))
            children.start(config.name, ("node", str(file)))
        started = {config.name: children.ready(config.name) for config in made}
        if missing := [name for name, process in started.items() if process is None]:
            raise NotStarted(", ".join(missing))
        for config in made:
            _print_addresses(config, started[config.name])
        print("every host takes guest/guest; Ctrl-C stops them all", flush=True)

    offsets = (0, API_OFFSET, PEER_OFFSET)
    places = range(playing.nodes)
    return play_in(begin, [playing.port + one + place for place in places for one in offsets])


def _print_addresses(config: Config, process: int | None) -> None:
    print(
        f"{config.name}: amqp://{HOST}:{config.amqp_port}/  "
        f"api http://{HOST}:{config.api_port}/  process {process}",
        flush=True,
    )
