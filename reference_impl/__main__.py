"""The reference as a program: a node, what operators tell one, a small cluster to play with."""

import argparse
import asyncio
import sys
from pathlib import Path

from reference_impl.node.alarms import RESOURCES
from reference_impl.node.config import HANDLINGS, PAUSE_IF_ALL_DOWN, Config, parsed
from reference_impl.rocketmq import configuration
from reference_impl.shell import api_client, limits, offline, play_rocketmq, rocketmq
from reference_impl.shell.play import Playing, play
from reference_impl.shell.program import run

ALL = "all"


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.what == "mirrored":
        return play(
            Playing(options.nodes, options.port, options.net_ticktime, options.partition_handling)
        )
    if options.what == "2m2s":
        playing = play_rocketmq.Playing(options.port, options.replication, options.compression)
        return play_rocketmq.play(playing)
    if options.what in ("name-server", "broker"):
        return _of_rocketmq(options)
    try:
        config = parsed(options.config.read_bytes())
    except (OSError, ValueError) as error:
        print(f"{options.config}: {error}", file=sys.stderr)
        return 2
    if options.what == "node":
        return _node(config, options)
    try:
        _operate(config, options)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _of_rocketmq(options: argparse.Namespace) -> int:
    try:
        text = options.config.read_text()
        if options.what == "broker":
            return asyncio.run(
                rocketmq.run_broker(configuration.broker(text), options.with_parent)
            )
        settings = configuration.name_server(text)
        return asyncio.run(rocketmq.run_name_server(settings, options.with_parent))
    except (OSError, ValueError) as error:
        print(f"{options.config}: {error}", file=sys.stderr)
        return 2


def _node(config: Config, options: argparse.Namespace) -> int:
    try:
        return asyncio.run(run(config, options.with_parent))
    except offline.InUse as error:
        print(error, file=sys.stderr)
        return 1


def _operate(config: Config, options: argparse.Namespace) -> None:
    match options.what:
        case "limit":
            _limit(config, options)
        case "forget":
            if options.offline:
                offline.forget(config, options.node)
            else:
                api_client.forget(config, options.node)
        case "force-boot":
            offline.force_boot(config)
        case "wipe":
            offline.wipe(config)
        case "reset":
            api_client.reset(config)
        case "join":
            api_client.reset(config, options.node)


def _limit(config: Config, options: argparse.Namespace) -> None:
    chosen = RESOURCES if options.resource == ALL else (options.resource,)
    if options.octets is None:
        print(f"[{','.join(limits.reset(config, chosen))}]")
    for resource in chosen if options.octets is not None else ():
        limits.limit(config, resource, options.octets)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reference_impl")
    what = parser.add_subparsers(dest="what", required=True)
    node = what.add_parser("node", help="one node, by its configuration file")
    node.add_argument("config", type=Path)
    node.add_argument("--with-parent", action="store_true", help="end with standard input")
    for name, title in (
        ("name-server", "a name server of RocketMQ, by a configuration file of the real one"),
        ("broker", "a broker of RocketMQ, by a configuration file of the real one"),
    ):
        server = what.add_parser(name, help=title)
        server.add_argument("config", type=Path)
        server.add_argument("--with-parent", action="store_true", help="end with standard input")
    limited = what.add_parser("limit", help="set a limit of a node that runs, for a while")
    limited.add_argument("config", type=Path)
    limited.add_argument("resource", choices=(*RESOURCES, ALL))
    limited.add_argument("octets", type=int, nargs="?", help="as configured, without")
    join = what.add_parser("join", help="a node that runs leaves its cluster, and joins another")
    join.add_argument("config", type=Path)
    join.add_argument("node", help="a member of the other one")
    forget = what.add_parser("forget", help="a node that is down is no member any more")
    forget.add_argument("config", type=Path, help="configuration file of the node that does it")
    forget.add_argument("node")
    forget.add_argument("--offline", action="store_true", help="said to a node that is down")
    for name, title in (
        ("force-boot", "a node that is down is to start without those that outlived it"),
        ("wipe", "a node that is down loses its disk"),
        ("reset", "a node that runs leaves its cluster, forgets all it has, and boots again"),
    ):
        what.add_parser(name, help=title).add_argument("config", type=Path)
    two = what.add_parser("2m2s", help="two masters with a slave each, and two name servers, here")
    two.add_argument("--port", type=int, default=9876)
    two.add_argument("--replication", choices=("sync", "async"), default="sync")
    two.add_argument("--compression", type=float, default=1.0, metavar="FACTOR")
    mirrored = what.add_parser("mirrored", help="a mirrored cluster on this machine")
    mirrored.add_argument("--nodes", type=int, default=3, choices=range(1, 10), metavar="1..9")
    mirrored.add_argument("--port", type=int, default=5672)
    mirrored.add_argument("--net-ticktime", type=float, default=60.0, metavar="SECONDS")
    handlings = [it for it in HANDLINGS if it != PAUSE_IF_ALL_DOWN]  # that needs names, too
    mirrored.add_argument("--partition-handling", choices=handlings, default="ignore")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
