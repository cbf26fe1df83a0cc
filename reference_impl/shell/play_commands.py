"""Commands that start a small cluster on this machine to play with."""

import argparse

from reference_impl.node.config import HANDLINGS, PAUSE_IF_ALL_DOWN
from reference_impl.rocketmq.ctgmq.rules import ReplicaRule
from reference_impl.rocketmq.ctgmq.settings import Truncation
from reference_impl.shell import play_rocketmq
from reference_impl.shell.play import Playing, play
from reference_impl.shell.play_ctgmq import SwitchedGroup, play_switched
from reference_impl.shell.play_dledger import PlayingGroup, play_group


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands to a parser."""
    two = commands.add_parser("2m2s", help="two masters with a slave each, and two name servers")
    two.add_argument("--port", type=int, default=9876)
    two.add_argument("--replication", choices=("sync", "async"), default="sync")
    two.add_argument("--compression", type=float, default=1.0, metavar="FACTOR")
    two.set_defaults(run=_play_2m2s)
    group = commands.add_parser("dledger", help="a group that elects its leader")
    group.add_argument("--port", type=int, default=9876)
    group.add_argument("--members", type=int, default=3, choices=range(3, 6), metavar="3..5")
    group.add_argument("--compression", type=float, default=1.0, metavar="FACTOR")
    group.set_defaults(run=_play_dledger)
    _add_ctgmq(commands)
    mirrored = commands.add_parser("mirrored", help="a mirrored cluster on this machine")
    mirrored.add_argument("--nodes", type=int, default=3, choices=range(1, 10), metavar="1..9")
    mirrored.add_argument("--port", type=int, default=5672)
    mirrored.add_argument("--net-ticktime", type=float, default=60.0, metavar="SECONDS")
    handlings = [it for it in HANDLINGS if it != PAUSE_IF_ALL_DOWN]  # that needs names, too
    mirrored.add_argument("--partition-handling", choices=handlings, default="ignore")
    mirrored.set_defaults(run=_play_mirrored)


def _add_ctgmq(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    switched = commands.add_parser("ctgmq", help="a group that its name servers switch")
    switched.add_argument("--port", type=int, default=9876)
    switched.add_argument("--name-servers", type=int, default=3, choices=(1, 2, 3, 5))
    switched.add_argument("--replicas", type=int, default=2, choices=(2, 3))
    truncations = [each.value for each in Truncation]
    switched.add_argument("--truncation", choices=truncations, default="epochs")
    rules = [rule.value for rule in ReplicaRule]
    switched.add_argument("--without", action="append", default=[], choices=rules)
    switched.add_argument("--compression", type=float, default=1.0, metavar="FACTOR")
    switched.set_defaults(run=_play_ctgmq)


def _play_ctgmq(options: argparse.Namespace) -> int:
    return play_switched(
        SwitchedGroup(
            options.port,
            options.name_servers,
            options.replicas,
            options.truncation,
            options.without,
            options.compression,
        )
    )


def _play_2m2s(options: argparse.Namespace) -> int:
    playing = play_rocketmq.Playing(options.port, options.replication, options.compression)
    return play_rocketmq.play(playing)


def _play_dledger(options: argparse.Namespace) -> int:
    return play_group(PlayingGroup(options.port, options.members, options.compression))


def _play_mirrored(options: argparse.Namespace) -> int:
    return play(
        Playing(options.nodes, options.port, options.net_ticktime, options.partition_handling)
    )
