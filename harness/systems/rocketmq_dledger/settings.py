"""PURE: the configuration of DLedger groups' servers (harness/systems/rocketmq/settings.py).

A member's id and role are not configured: they follow from the election (members.py). The product
spells its keys "DLeger".
"""

from harness.plan.model import Layout
from harness.systems.rocketmq.layout import ServerProcess, brokers, server_of
from harness.systems.rocketmq.settings import broker, name_server


def configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """By key, of the server that is this process of this host."""
    server = server_of(layout.hosts, host, process)
    if not server.is_broker:
        return name_server(layout, server)
    return broker(layout, server, _membership(layout, server))


def member(server: ServerProcess) -> str:
    """The id of a member in its group: a letter and a number."""
    return f"n{server.id}"


def _membership(layout: Layout, server: ServerProcess) -> dict[str, str]:
    group = [one for one in brokers(layout.hosts) if one.group == server.group]
    group.sort(key=lambda one: one.id)
    return {
        "enableDLegerCommitLog": "true",
        "dLegerGroup": server.group,
        "dLegerPeers": ";".join(f"{member(one)}-{one.host}:{one.votes_at}" for one in group),
        "dLegerSelfId": member(server),
    }
