"""The commands `name-server` and `broker`: servers of RocketMQ, by files of the real ones."""

import argparse
import asyncio
import sys
from pathlib import Path

from reference_impl.rocketmq import configuration
from reference_impl.shell import rocketmq


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands to a parser."""
    for name, title in (
        ("name-server", "a name server of RocketMQ, by a configuration file of the real one"),
        ("broker", "a broker of RocketMQ, by a configuration file of the real one"),
    ):
        server = commands.add_parser(name, help=title)
        server.add_argument("config", type=Path)
        server.add_argument("--with-parent", action="store_true", help="end with standard input")
        server.set_defaults(run=_serve)


def _serve(options: argparse.Namespace) -> int:
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
