"""The reference as a program: one node, or a small cluster to play with."""

import argparse
import asyncio
import sys
from pathlib import Path

from reference_impl.node.alarms import RESOURCES
from reference_impl.node.config import HANDLINGS, PAUSE_IF_ALL_DOWN, parsed
from reference_impl.shell import limits
from reference_impl.shell.play import Playing, play
from reference_impl.shell.program import run

ALL = "all"


def main(arguments: list[str]) -> int:
    asked = _parser().parse_args(arguments)
    if asked.what == "node":
        try:
            config = parsed(asked.config.read_bytes())
        except (OSError, ValueError) as error:
            print(f"{asked.config}: {error}", file=sys.stderr)
            return 2
        return asyncio.run(run(config, asked.with_parent))
    if asked.what == "limit":
        return _limit(asked)
    return play(Playing(asked.nodes, asked.port, asked.net_ticktime, asked.partition_handling))


def _limit(asked: argparse.Namespace) -> int:
    try:
        config = parsed(asked.config.read_bytes())
        chosen = RESOURCES if asked.resource == ALL else (asked.resource,)
        if asked.octets is None:
            print(f"[{','.join(limits.reset(config, chosen))}]")
        for resource in chosen if asked.octets is not None else ():
            limits.limit(config, resource, asked.octets)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reference_impl")
    what = parser.add_subparsers(dest="what", required=True)
    node = what.add_parser("node", help="one node, told by a configuration file")
    node.add_argument("config", type=Path)
    node.add_argument("--with-parent", action="store_true", help="end with standard input")
    limited = what.add_parser("limit", help="set a limit of a node that runs, for a while")
    limited.add_argument("config", type=Path)
    limited.add_argument("resource", choices=(*RESOURCES, ALL))
    limited.add_argument("octets", type=int, nargs="?", help="as configured, without")
    mirrored = what.add_parser("mirrored", help="a mirrored cluster on this machine")
    mirrored.add_argument("--nodes", type=int, default=3, choices=range(1, 10), metavar="1..9")
    mirrored.add_argument("--port", type=int, default=5672)
    mirrored.add_argument("--net-ticktime", type=float, default=60.0, metavar="SECONDS")
    handlings = [it for it in HANDLINGS if it != PAUSE_IF_ALL_DOWN]  # that needs names, too
    mirrored.add_argument("--partition-handling", choices=handlings, default="ignore")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
