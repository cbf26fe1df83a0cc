"""Topology files for tests: three brokers, each with what a test gives it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.plan.layouts.topology import Topology
from harness.systems.topologies import read_topology

SYSTEMS = ("rabbitmq-mirrored", "reference-mirrored")
HOSTS = ("alpha", "beta", "gamma")
HEAD = """
system = "reference-mirrored"
net_ticktime = "10 s"
[credentials]
user = "REFERENCE_USER"
password = "REFERENCE_PASSWORD"
"""
FREEZE = """
[broker.freeze]
do = ["stopper", "freeze"]
undo = ["stopper", "thaw"]
verify = ["stopper", "frozen"]
"""
START = '[proxy]\nstart = "embedded"\n'


def broker(place: int, amqp: str = "", management: str = "", commands: str = "") -> str:
    """The table of one broker; node and host have different names, as they may."""
    return f"""
[[broker]]
host = "{HOSTS[place]}"
node = "rabbit@ref{place + 1}"
amqp = "{amqp or f"10.0.0.{place + 1}:5672"}"
management = "{management or f"http://10.0.0.{place + 1}:15672"}"
{commands}
"""


def text(*tables: str, head: str = HEAD, commands: str = FREEZE) -> str:
    brokers = [broker(place, commands=commands) for place in range(len(HOSTS))]
    return "\n".join([head, *tables, *brokers])


def topology(*tables: str, head: str = HEAD, commands: str = FREEZE) -> Topology:
    return read_topology("staging", text(*tables, head=head, commands=commands), SYSTEMS)


def command(kind: str, words: Mapping[str, Sequence[str | Path]], deadline: str = "10 s") -> str:
    """The table of one command; `words` by step."""
    lines = [
        f"{step} = [{', '.join(repr(str(word)) for word in argv)}]" for step, argv in words.items()
    ]
    return "\n".join([f"[broker.{kind}]", *lines, f'deadline = "{deadline}"', ""])
