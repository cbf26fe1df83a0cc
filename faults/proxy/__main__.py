"""The embedded proxy as a program: `python -m faults.proxy [--host 127.0.0.1] [--port 8474]`.

1. The first line of its output is JSON: `{"listening": "127.0.0.1:8474"}`, with the real port.
2. SIGTERM and SIGINT end it; with `--with-parent` the end of its standard input does, too.
3. Where TOKEN is set in its environment, every request has to bring that.
4. It listens on loopback alone, its proxies too: it is for clusters of this machine.
5. It exits 0 when it was ended, 1 when it cannot listen, 2 when it was called wrongly.
"""

import argparse
import asyncio
import contextlib
import json
import os
import resource
import signal
import stat
import sys

from faults.proxy.core.addresses import is_loopback
from faults.proxy.server import Server

CANNOT_LISTEN, MISUSED = 1, 2
TOKEN = "MQPROOF_PROXY_TOKEN"  # as faults/toxiproxy.py has it, which is heavier than this program


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m faults.proxy", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8474, help="0: any free one")
    parser.add_argument("--seed", type=int, default=0, help="of what toxics draw by chance")
    parser.add_argument(
        "--with-parent", action="store_true", help="end when the standard input is closed"
    )
    options = parser.parse_args()
    if options.with_parent and not _watchable(sys.stdin.fileno()):
        print("--with-parent needs a pipe or a socket as standard input", file=sys.stderr)
        return MISUSED
    if not is_loopback(options.host):
        print(f"--host {options.host} is not on loopback: 127.0.0.1, ::1", file=sys.stderr)
        return MISUSED
    _allow_many_connections()
    return asyncio.run(_serve(options.host, options.port, options.seed, options.with_parent))


async def _serve(host: str, port: int, seed: int, with_parent: bool) -> int:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    server = Server(seed, os.environ.get(TOKEN, ""))
    try:
        listening = await server.open(host, port)
    except OSError as error:
        print(f"cannot listen at {host}:{port}: {error}", file=sys.stderr)
        return CANNOT_LISTEN
    if with_parent:
        _watch_parent(sys.stdin.fileno(), ended)
    print(json.dumps({"listening": listening}), flush=True)
    await ended.wait()
    server.close()
    return 0


def _watchable(stdin: int) -> bool:
    mode = os.fstat(stdin).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _watch_parent(stdin: int, ended: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()

    def heard() -> None:
        """What the parent sends means nothing; the end of its stream does."""
        with contextlib.suppress(OSError):
            if os.read(stdin, 1 << 12):
                return
        loop.remove_reader(stdin)
        ended.set()

    loop.add_reader(stdin, heard)


def _allow_many_connections() -> None:
    """A connection needs two descriptors and the usual limit is 1024. Go's runtime does so too."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    sys.exit(main())
