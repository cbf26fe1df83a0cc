"""What the names of hosts mean to one worker, where brokers advertise names: each worker has an
address of the proxy's for itself, and a table of its own leads it there.

1. The table has the form of /etc/hosts. Where there is none, a name means what it means here.
2. In containers it is libc that is told (deploy/compose/worker_ways.py): no table is needed.
"""

import os
from collections.abc import Mapping
from pathlib import Path

HOSTS_FILE = "MQPROOF_HOSTS"


def jvm_flags(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """By which a JVM reads the same table: it asks nobody else then, but takes addresses."""
    path = environment.get(HOSTS_FILE, "")
    return (f"-Djdk.net.hosts.file={path}",) if path else ()


def own_table(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """By name. Raises OSError where the table cannot be read."""
    path = environment.get(HOSTS_FILE, "")
    lines = Path(path).read_text(encoding="utf-8").splitlines() if path else []
    pairs = (line.split() for line in lines if line.strip())
    return {name: address for address, *names in pairs for name in names}
