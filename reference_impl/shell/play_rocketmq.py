"""Two masters, two slaves and two name servers on 127.0.0.1 to play with.

1. Name servers listen on port and port + 1, brokers from port + 1035 on, ten apart, as RocketMQ's
   defaults lie: broker-a's master and slave, then broker-b's.
2. The first line is printed when clients can send (sendable.py), and no sooner.
3. Data lies in a temporary folder, which goes with the cluster. What servers log is not shown.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reference_impl.shell import sendable
from reference_impl.shell.children import Children
from reference_impl.shell.playground import HOST, NotStarted, play_in

BROKER_OFFSET, BROKER_STEP = 1035, 10
SLAVES_AFTER = 1  # a broker's port for its slaves, above its own (haListenPort)
READY_LIMIT_S = 60.0
BROKERS = (("broker-a", 0), ("broker-a", 1), ("broker-b", 0), ("broker-b", 1))


@dataclass(frozen=True, slots=True)
class Playing:
    """The options of a playground. `compression`: by how much timers are shorter than the real
    ones."""

    port: int
    replication: str  # sync, async
    compression: float


def configurations(playing: Playing, folder: Path) -> dict[str, tuple[str, str]]:
    """By name: the word that starts it, and its configuration file."""
    name_servers = _name_servers(playing)
    shared = {"bindAddress": HOST, "compression": f"{playing.compression:g}"}
    files = {
        f"name-server-{number}": ("name-server", settings_text({**shared, "listenPort": port}))
        for number, port in enumerate(name_servers, 1)
    }
    for place, (name, number) in enumerate(BROKERS):
        role = "SLAVE" if number else f"{playing.replication.upper()}_MASTER"
        own = {
            "brokerName": name,
            "brokerId": number,
            "brokerRole": role,
            "brokerIP1": HOST,
            "listenPort": _broker_port(playing, place),
            "namesrvAddr": ";".join(f"{HOST}:{port}" for port in name_servers),
            "storePathRootDir": folder / f"{name}-{number}",
        }
        files[f"{name}-{number}"] = ("broker", settings_text({**shared, **own}))
    return files


def play(playing: Playing) -> int:
    """Until Ctrl-C or SIGTERM, or until the last server has ended; the exit status."""
    name_servers = _name_servers(playing)
    brokers = [_broker_port(playing, place) for place in range(len(BROKERS))]
    ports = [*name_servers, *brokers, *(port + SLAVES_AFTER for port in brokers)]
    return play_files(partial(configurations, playing), ports, lambda: _obstacle(playing))


def play_files(
    configured: Callable[[Path], Mapping[str, tuple[str, str]]],
    ports: Sequence[int],
    obstacle: Callable[[], str],
    name_servers: int = 2,
) -> int:
    """The same, of any servers. `configured`: configurations in a folder; `ports`: all of theirs,
    name servers' first; `obstacle`: what keeps clients from sending."""

    def begin(folder: Path, children: Children) -> None:
        files = configured(folder)
        for name, (word, text) in files.items():
            file = folder / f"{name}.conf"
            file.write_text(text)
            children.start(name, (word, str(file)))
        started = {name: children.ready(name) for name in files}
        if missing := [name for name, process in started.items() if process is None]:
            raise NotStarted(", ".join(missing))
        if reason := obstacle():
            print(f"clients cannot send yet: {reason}", file=sys.stderr, flush=True)
        print(";".join(f"{HOST}:{port}" for port in ports[:name_servers]), flush=True)
        for name, process in started.items():
            print(f"{name}: process {process}", flush=True)
        print("Ctrl-C stops them all", flush=True)

    return play_in(begin, ports)


def _obstacle(playing: Playing) -> str:
    """Return what still keeps clients from sending after the limit; empty if nothing does."""
    name_servers = [(HOST, port) for port in _name_servers(playing)]
    masters = {
        name: [(HOST, _broker_port(playing, place))]
        for place, (name, number) in enumerate(BROKERS)
        if number == 0
    }
    return sendable.obstacle(name_servers, masters, READY_LIMIT_S)


def _name_servers(playing: Playing) -> tuple[int, int]:
    return playing.port, playing.port + 1


def _broker_port(playing: Playing, place: int) -> int:
    return playing.port + BROKER_OFFSET + place * BROKER_STEP


def settings_text(settings: dict[str, object]) -> str:
    """Return the text of a configuration file."""
    return "".join(f"{key}={value}\n" for key, value in settings.items())
