"""PURE: the names by which a run's queues are known to NATS, the ports, and the logins.

1. A queue is a stream with one subject and one durable consumer. The subject is the queue's name.
2. A stream's name has no dots: they become underscores, in prefixes, too.
3. Every server listens at the same three ports, each at an address of its own.
"""

from typing import NamedTuple

CLIENT_PORT, MONITORING_PORT, ROUTE_PORT = 4222, 8222, 6222
CLUSTER = "mqproof"
CONSUMER = "mqproof"  # the durable consumer of every stream
API = "$JS.API"


class Login(NamedTuple):
    """A user of the servers. Clusters are ours alone and end with the experiment."""

    user: str
    password: str


APPLICATION = Login("mqproof", "mqproof")  # clients, and requests about streams
SYSTEM = Login("mqproof-system", "mqproof")  # the system account closes connections


def stream(queue: str) -> str:
    """Return the name of a queue's stream, or the beginning of the streams of a prefix."""
    return queue.replace(".", "_")


def deliver_subject(queue: str) -> str:
    """Return the subject to which the servers push a queue's messages."""
    return f"deliver.{stream(queue)}"
