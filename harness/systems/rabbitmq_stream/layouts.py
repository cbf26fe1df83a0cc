"""The mistakes of a layout file of streams.

1. Over AMQP 0-9-1 a node serves consumers from its own replica alone, and refuses them without
   one. Clients here go from node to node, so every host has a replica.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.plan.toml_problems import TomlProblem
from harness.systems.likeness import LIKE
from harness.systems.rabbitmq import member_layouts
from harness.systems.rabbitmq.layouts import members as hosts_of


def mistakes(document: Mapping[str, Any], processes: tuple[str, ...]) -> Iterator[TomlProblem]:
    """Of several keys."""
    yield from member_layouts.mistakes(document, processes)
    members, hosts = document.get("members"), hosts_of(document)
    if type(members) is int and hosts and LIKE not in document and members < hosts:
        text = (
            f"{members} members on {hosts} hosts: a node without a replica of a stream refuses "
            f"its consumers over AMQP 0-9-1; write members = {hosts}"
        )
        yield TomlProblem(("members",), text)
