"""Two masters, two slaves and two name servers on 127.0.0.1 to play with.

1. Name servers listen on port and port + 1, brokers from port + 1035 on, ten apart, as RocketMQ's
   defaults lie: broker-a's master and slave, then broker-b's.
2. Data lies in a temporary folder, which goes with the cluster. What servers log is not shown.
"""

import signal
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from reference_impl.shell.children import Children

HOST = "127.0.0.1"
BROKER_OFFSET, BROKER_STEP = 1035, 10
BROKERS = (("broker-a", 0), ("broker-a", 1), ("broker-b", 0), ("broker-b", 1))


@dataclass(frozen=True, slots=True)
class Playing:
    """What is asked for. `compression`: by how much timers are shorter than the real ones."""

    port: int
    replication: str  # sync, async
    compression: float


def configurations(playing: Playing, folder: Path) -> dict[str, tuple[str, str]]:
    """By name: the word that starts it, and its configuration file."""
    name_servers = (playing.port, playing.port + 1)
    shared = {"bindAddress": HOST, "compression": f"{playing.compression:g}"}
    told = {
        f"name-server-{number}": ("name-server", _text({**shared, "listenPort": port}))
        for number, port in enumerate(name_servers, 1)
    }
    for place, (name, number) in enumerate(BROKERS):
        role = "SLAVE" if number else f"{playing.replication.upper()}_MASTER"
        own = {
            "brokerName": name,
            "brokerId": number,
            "brokerRole": role,
            "brokerIP1": HOST,
            "listenPort": playing.port + BROKER_OFFSET + place * BROKER_STEP,
            "namesrvAddr": ";".join(f"{HOST}:{port}" for port in name_servers),
            "storePathRootDir": folder / f"{name}-{number}",
        }
        told[f"{name}-{number}"] = ("broker", _text({**shared, **own}))
    return told


def play(playing: Playing) -> int:
    """Until Ctrl-C or SIGTERM, or until the last server has ended; the exit status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="mqproof-reference-") as made:
        folder, children = Path(made), Children()
        try:
            told = configurations(playing, folder)
            for name, (word, text) in told.items():
                file = folder / f"{name}.conf"
                file.write_text(text)
                children.start(name, (word, str(file)))
            started = {name: children.ready(name) for name in told}
            print(f"{HOST}:{playing.port};{HOST}:{playing.port + 1}", flush=True)
            for name, process in started.items():
                if process is None:
                    print(f"{name} did not start", file=sys.stderr, flush=True)
                else:
                    print(f"{name}: process {process}", flush=True)
            print("Ctrl-C stops them all", flush=True)
            return children.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            children.stop()


def _text(settings: dict[str, object]) -> str:
    return "".join(f"{key}={value}\n" for key, value in settings.items())
