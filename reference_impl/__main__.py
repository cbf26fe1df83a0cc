"""The reference as a program: a server, an operator's command, or a small cluster to play with.

A cluster starts many of these processes, so each imports only what its command needs.
"""

import argparse
import sys


def main(words: list[str]) -> int:
    """Run one command and return its exit status: 0, 1 (failed) or 2 (bad input)."""
    options = _parser(words[0] if words else "").parse_args(words)
    status: int = options.run(options)
    return status


def _parser(command: str) -> argparse.ArgumentParser:
    """Return a parser of the subject that `command` belongs to, or of all for help and errors."""
    parser = argparse.ArgumentParser(prog="python -m reference_impl")
    commands = parser.add_subparsers(dest="what", required=True)
    rest = command not in ("node", "name-server", "broker")
    if rest or command == "node":
        from reference_impl.shell import node_command

        node_command.add(commands)
    if rest or command in ("name-server", "broker"):
        from reference_impl.shell import rocketmq_commands

        rocketmq_commands.add(commands)
    if rest:
        from reference_impl.shell import operator_commands, play_commands

        operator_commands.add(commands)
        play_commands.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
