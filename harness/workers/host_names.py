"""The addresses of host names for one worker, if brokers advertise names: each worker has its own
address of the proxy, and its own table leads there.

1. The table has the form of /etc/hosts. Where there is none, a name means what it means here.
2. In containers libc is configured (deploy/compose/worker_ways.py): no table is needed.
"""

import os
from collections.abc import Mapping
from pathlib import Path

HOSTS_FILE = "MQPROOF_HOSTS"


def jvm_flags(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return JVM flags to use the same table: the JVM then resolves only by it."""
    path = environment.get(HOSTS_FILE, "")
    return (f"-Djdk.net.hosts.file={path}",) if path else ()


def own_table(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """By name. Raises OSError where the table cannot be read."""
    path = environment.get(HOSTS_FILE, "")
    lines = Path(path).read_text(encoding="utf-8").splitlines() if path else []
    pairs = (line.split() for line in lines if line.strip())
    return {name: address for address, *names in pairs for name in names}
