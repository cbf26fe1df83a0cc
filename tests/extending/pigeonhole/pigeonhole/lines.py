"""The protocol: one JSON object a line, both ways.

To a node        {"do": "hello", "name": "..."}               who is there; any connection may
                 {"do": "declare", "queue": "..."}            this node holds it from now on
                 {"do": "find", "queue": "..."}               -> {"say": "found", "here": true}
                 {"do": "put", "queue": "...", "body": "..."}     the n-th on a connection is its n
                 {"do": "subscribe", "queue": "...", "window": 200}
                 {"do": "done", "upto": 7}                    this delivery and all before it
                 {"do": "ready", "queue": "..."}              -> {"say": "ready", "count": 0}
From a node      {"say": "confirmed", "upto": 7}              this put and all before it
                 {"say": "given", "tag": 1, "again": false, "body": "..."}
Operators ask    queues, delete, names, close, nodes, stall, state (node.py)
"""

import json
from typing import Any

LINE_MAX = 1 << 25
CLIENT_PORT, PEER_PORT = 7400, 7401


def encode(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """Raises ValueError on what is no JSON object."""
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError(f"no object: {line!r}")
    return message
