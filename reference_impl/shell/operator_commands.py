"""Operators' commands to a node of a mirrored cluster, running or down."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from reference_impl.node.alarms import RESOURCES
from reference_impl.node.config import Config
from reference_impl.shell import api_client, offline
from reference_impl.shell.api_client import ask
from reference_impl.shell.node_command import read_config

# --- Limits of a node that runs, set for a while: `python -m reference_impl limit` ---------------
# It asks the node's own management API (api_client.py).


def set_limit(config: Config, resource: str, octets: int) -> None:
    """Raises OSError."""
    ask(config, "PUT", f"/api/limits/{resource}", json.dumps({"octets": octets}).encode())


def reset_limits(config: Config, resources: Sequence[str] = RESOURCES) -> list[str]:
    """As configured again. Which of them had an alarm before. Raises OSError."""
    had = []
    for resource in resources:
        answer = json.loads(ask(config, "DELETE", f"/api/limits/{resource}"))
        had += [resource] if answer["alarm"] else []
    return had


# --- The commands --------------------------------------------------------------------------------


ALL = "all"


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands to a parser."""
    limited = commands.add_parser("limit", help="set a limit of a running node for a while")
    limited.add_argument("config", type=Path)
    limited.add_argument("resource", choices=(*RESOURCES, ALL))
    limited.add_argument("octets", type=int, nargs="?", help="default: the configured limit")
    join = commands.add_parser("join", help="a running node leaves its cluster and joins another")
    join.add_argument("config", type=Path)
    join.add_argument("node", help="a member of the other cluster")
    forget = commands.add_parser("forget", help="remove a node that is down from the cluster")
    forget.add_argument("config", type=Path, help="configuration file of the node that does it")
    forget.add_argument("node")
    forget.add_argument("--offline", action="store_true", help="the node that does it is down")
    simple = {
        "force-boot": "let a node that is down start without those that were up after it",
        "wipe": "empty the disk of a node that is down",
        "reset": "a running node leaves its cluster, deletes all its data, and boots again",
    }
    for name, title in simple.items():
        commands.add_parser(name, help=title).add_argument("config", type=Path)
    for name in ("limit", "join", "forget", *simple):
        commands.choices[name].set_defaults(run=_operate)


def _operate(options: argparse.Namespace) -> int:
    config = read_config(options.config)
    if config is None:
        return 2
    try:
        _run(config, options)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _run(config: Config, options: argparse.Namespace) -> None:
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
        print(f"[{','.join(reset_limits(config, chosen))}]")
    for resource in chosen if options.octets is not None else ():
        set_limit(config, resource, options.octets)
