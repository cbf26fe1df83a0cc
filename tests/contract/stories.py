"""What a scenario is, and what several of them do.

1. A scenario yields what both ends of a proxied connection saw, in order. Its name is the claim
   that those lines bear out; what the real server's were is in answers.json.
2. `pair` has carried bytes before the story begins; `new_pair` connects during it.
3. A toxic on `downstream` works on what the server sends to the client, and the other way round.
"""

from collections.abc import Callable, Iterator

from tests.contract.rig import Peer, Rig

Scenario = Callable[[Rig], Iterator[str]]
BULK = bytes(range(256)) * 16_384  # 4 MiB
PORTION = 1 << 16


class Stories:
    """The scenarios of one module, by their names; it is the decorator that adds one."""

    def __init__(self) -> None:
        self.by_name: dict[str, Scenario] = {}

    def __call__(self, story: Scenario) -> Scenario:
        self.by_name[story.__name__.replace("_", " ")] = story
        return story


def stall(rig: Rig) -> None:
    for stream in ("upstream", "downstream"):
        rig.toxic("bandwidth", stream, rate=0)


def alive(client: Peer, server: Peer) -> Iterator[str]:
    client.send("still")
    heard = server.soon()
    server.send("here")
    yield f"alive: {heard}, {client.soon()}"


def bulk(rig: Rig) -> Iterator[str]:
    client, server = rig.pair()
    for way, sender, receiver in (("up", client, server), ("down", server, client)):
        yield f"{way}: {_carried(sender, receiver)}"


def _carried(sender: Peer, receiver: Peer) -> str:
    """Both ends are in one thread, so that each portion must fit into the kernel's buffers."""
    for start in range(0, len(BULK), 8 * PORTION):
        portions = BULK[start : start + 8 * PORTION]
        sender.send_octets(portions)
        seen = receiver.intact(portions)
        if not seen.startswith("all"):
            return f"broken at {start}: {seen}"
    return f"all {len(BULK)} bytes"
