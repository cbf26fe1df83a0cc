"""A worker's own ways to brokers whose addresses clients learn from name servers.

By a table in its environment each address leads through a proxy's listener for that worker alone.

1. Without a table an address means itself.
2. host_names.py does the same where servers are known by names that no resolver has.
"""

import json
import os
from collections.abc import Mapping

from harness.workers.protocol import Endpoint

WAYS = "MQPROOF_WAYS"


def variables(ways: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that make a worker use these ways: `address:port` by `address:port`."""
    return {WAYS: json.dumps(dict(ways))} if ways else {}


def own_ways(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the table of this process."""
    found: dict[str, str] = json.loads(environment.get(WAYS, "{}"))
    return found


def text(endpoint: Endpoint) -> str:
    return f"{endpoint.address}:{endpoint.port}"
