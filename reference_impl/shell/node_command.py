"""The command `node`: one node of a mirrored cluster, by its configuration file."""

import argparse
import asyncio
import sys
from pathlib import Path

from reference_impl.node.config import Config, parsed
from reference_impl.shell.offline import InUse
from reference_impl.shell.program import run


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to a parser."""
    node = commands.add_parser("node", help="one node, by its configuration file")
    node.add_argument("config", type=Path)
    node.add_argument("--with-parent", action="store_true", help="end with standard input")
    node.set_defaults(run=_node)


def read_config(path: Path) -> Config | None:
    """Return a node's configuration, or None after a message about a file that is wrong."""
    try:
        return parsed(path.read_bytes())
    except (OSError, ValueError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return None


def _node(options: argparse.Namespace) -> int:
    config = read_config(options.config)
    if config is None:
        return 2
    try:
        return asyncio.run(run(config, options.with_parent))
    except InUse as error:
        print(error, file=sys.stderr)
        return 1
