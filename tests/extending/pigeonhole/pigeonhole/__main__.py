"""Starts a node: `python -m pigeonhole CONFIG.json [--with-parent]`.

It ends on SIGTERM, with all on disk; with `--with-parent` also when its standard input does.
"""

import asyncio
import json
import signal
import sys
from pathlib import Path

from pigeonhole.node import Config, Node


async def _main(file: str, with_parent: bool) -> None:
    document = json.loads(Path(file).read_text(encoding="utf-8"))
    peers = {name: (address, port) for name, (address, port) in document["peers"].items()}
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    if with_parent:
        loop.add_reader(sys.stdin, ended.set)  # nothing is ever written: readable means its end
    await Node(Config(**{**document, "peers": peers})).serve(ended)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], "--with-parent" in sys.argv[2:]))
