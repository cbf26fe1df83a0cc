"""PURE: what a system says of its processes in containers.

1. A process joins the network of its host and brings its own data volume; both are
   deploy/compose/core/render.py's.
2. Everything of a layout reaches a broker by its environment: its entry point makes files of it.
3. COOKIE in a value stands for the cluster's own secret, which the deployment draws.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.plan.layouts.layout_values import Host
from harness.plan.model import Layout

Addresses = Mapping[str, str]  # by host
Service = dict[str, Any]
COOKIE = "@COOKIE@"
# Rights: an entry point that begins as root makes files for the user that it becomes.
BECOMES_A_USER = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID")


@dataclass(frozen=True, slots=True)
class Services:
    """One system's processes: where they keep data, and their configuration.

    `configure`: of a process of a host, by its word in the layout.
    """

    data: str
    configure: Callable[[Layout, Host, str, Addresses], Service]


def health_check(test: list[str]) -> Service:
    """Rare: each look costs a process and three lines of the broker's log. The harness asks by its
    agent and does not wait for this one."""
    return {"test": test, "interval": "15s", "timeout": "5s", "retries": 5}


def port_is_open(port: int, address: str = "127.0.0.1") -> Service:
    return health_check(["CMD", "bash", "-c", f"exec 3<>/dev/tcp/{address}/{port}"])
