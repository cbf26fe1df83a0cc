"""The tables as the management API's JSON (docs/behaviour/rabbitmq.md 5.4, item 29).

1. A node is `rabbit@NAME`, as of a real broker.
2. slave_nodes: in the order of age, the first is the next master. synchronised_slave_nodes: in
   reverse order of becoming so.
3. A queue whose master is down names its last node, and its state is `down`.
4. Unknown counts are left out.
"""

from typing import Any

from reference_impl.metadata.governing import governing
from reference_impl.metadata.tables import Policy, Queue, Tables
from reference_impl.node.alarms import DISK, MEMORY
from reference_impl.process import World
from reference_impl.protocol.connections import Described
from reference_impl.protocol.queues import Looked

RABBITMQ_VERSION = "3.10.8"  # whose behaviour this is
PRODUCT, PRODUCT_VERSION = "mqproof reference", "0.1.0"

JsonObject = dict[str, Any]  # one JSON object


def node_name(node: str) -> str:
    return f"rabbit@{node}"


def queue_json(world: World, queue: Queue, looked: Looked | None) -> JsonObject:
    is_up = queue.master is not None and world.alive(queue.master)
    policy = governing(world.tables, queue)
    described: JsonObject = {
        "name": queue.name,
        "vhost": "/",
        "type": "classic",
        "durable": queue.durable,
        "auto_delete": queue.auto_delete,
        "exclusive": queue.owner is not None,
        "arguments": queue.arguments,
        "node": node_name(queue.master.node if queue.master is not None else queue.home),
        "state": "running" if is_up else "down",
        "policy": None if policy is None else policy.name,
        "effective_policy_definition": {} if policy is None else policy.definition,
        "slave_nodes": [node_name(pid.node) for pid in queue.mirrors],
        "synchronised_slave_nodes": [node_name(pid.node) for pid in queue.synchronised],
        "recoverable_slaves": [node_name(node) for node in queue.recoverable],
    }
    if looked is not None:
        described["messages"] = looked.ready + looked.unacknowledged
        described["messages_ready"] = looked.ready
        described["messages_unacknowledged"] = looked.unacknowledged
        described["consumers"] = looked.consumers
        described["backing_queue_status"] = {
            **looked.lengths,
            "len": looked.ready,
            "mode": "default",
            "target_ram_count": "infinity" if looked.target is None else looked.target,
        }
    return described


def policy_json(policy: Policy) -> JsonObject:
    return {
        "vhost": "/",
        "name": policy.name,
        "pattern": policy.pattern,
        "apply-to": policy.apply_to,
        "definition": policy.definition,
        "priority": policy.priority,
    }


def nodes_json(world: World) -> list[JsonObject]:
    """All that are members, and those from which this one is partitioned: only it tells so."""
    apart, alarms = world.partitions(), world.alarms()
    running = [
        {
            "name": node_name(node),
            "type": "disc",
            "running": True,
            "partitions": [node_name(it) for it in apart] if node == world.node else [],
            "mem_alarm": MEMORY in alarms.get(node, ()),
            "disk_free_alarm": DISK in alarms.get(node, ()),
        }
        for node in world.running()
    ]
    down = {*world.tables.nodes, *apart}.difference(world.running())
    others = [
        {"name": node_name(node), "type": "disc", "running": False, "partitions": []}
        for node in down
    ]
    return sorted(running + others, key=lambda node: str(node["name"]))


def connection_json(described: Described) -> JsonObject:
    named = described.user_provided_name
    return {
        "name": described.name,
        "user_provided_name": named,
        "client_properties": {"connection_name": named} if named else {},
        "node": node_name(described.pid.node),
        "state": "running",
        "protocol": "AMQP 0-9-1",
        "user": "guest",
        "vhost": "/",
    }


def overview_json(world: World) -> JsonObject:
    tables: Tables = world.tables
    return {
        "rabbitmq_version": RABBITMQ_VERSION,
        "management_version": RABBITMQ_VERSION,
        "product_name": PRODUCT,
        "product_version": PRODUCT_VERSION,
        "erlang_version": "none",
        "cluster_name": node_name(min(world.running(), default=world.node)),
        "node": node_name(world.node),
        "object_totals": {
            "exchanges": len(tables.exchanges),
            "queues": len(tables.queues),
        },
    }
