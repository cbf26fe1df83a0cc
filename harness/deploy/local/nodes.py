"""The nodes and the proxy of a local cluster, as children of the harness.

1. Only a parent learns how a process ended: that is why these handles are kept.
2. A node that was started again is a new child; only the last one of a host is asked.
"""

import subprocess
from contextlib import suppress

from harness.deploy.local.site import PROXY_NAME, Site, priorities, start_node, start_proxy

WORDS_MAX = 20  # lines of a log that an error tells


class LocalNodes:
    """Nothing runs until it is started."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}
        self._ended: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._proxy: subprocess.Popen[bytes] | None = None

    def start_proxy(self) -> None:
        """Raises OSError."""
        self._proxy = start_proxy(self.site)

    def start(self, host: str) -> None:
        """Raises OSError."""
        started = start_node(self.site, host)
        if host in self._nodes:
            self._ended.append((host, self._nodes[host]))
        self._nodes[host] = started

    def exit_code(self, host: str) -> int | None:
        """128 and the signal's number where a signal ended it; None while it runs."""
        return _code(self._nodes[host])

    def ends(self) -> dict[int, tuple[str, int]]:
        """By pid, of every node that was started and has ended: its host, and its exit code."""
        codes = [(host, node, _code(node)) for host, node in (*self._ended, *self._nodes.items())]
        return {node.pid: (host, code) for host, node, code in codes if code is not None}

    def failure(self) -> str:
        """Which process has ended where it should run, with its last words; "" where none has."""
        if self._proxy is not None and self._proxy.poll() is not None:
            return f"the proxy ended with {self._proxy.returncode}{self.last_words(PROXY_NAME)}"
        for host in self._nodes:
            code = self.exit_code(host)
            if code is not None:
                return f"the node of {host} ended with {code}{self.last_words(host)}"
        return ""

    def last_words(self, name: str) -> str:
        """The ends of what a process wrote, and of its log."""
        words = []
        for file in (self.site.log(name), self.site.output(name)):
            with suppress(OSError):
                lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
                words += [f"{file.name}: {line}" for line in lines[-WORDS_MAX:]]
        return "".join(f"\n  {line}" for line in words) or "; it wrote nothing"

    def priorities(self) -> str:
        """Of one node: all are treated alike."""
        return next((priorities(node.pid) for node in self._nodes.values()), "unknown")

    def reap(self) -> None:
        """Lets go of children that have ended."""
        ended = [process for _, process in self._ended]
        for process in (*self._nodes.values(), *ended, self._proxy):
            if process is not None:
                if process.stdin is not None:
                    process.stdin.close()
                process.poll()


def _code(process: "subprocess.Popen[bytes]") -> int | None:
    code = process.poll()
    return 128 - code if code is not None and code < 0 else code
