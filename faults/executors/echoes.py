"""Echo requests from this host to another one: `python -m faults.executors.echoes ADDRESS COUNT
INTERVAL WAIT` prints one line (core/echo_packets.py). Intervals are in seconds.

1. It needs NET_RAW, as the helper in a host's network namespace has it. No broker is asked: the
   other host's kernel answers.
2. A host that the kernel calls unreachable answers nothing: such a request is lost.
"""

import errno
import ipaddress
import os
import select
import socket
import sys
import time
from dataclasses import dataclass, field

from faults.core.model import PacketSamples
from faults.executors.core import echo_packets

BYTES_MAX = 2048
_UNREACHABLE = {errno.EHOSTUNREACH, errno.EHOSTDOWN, errno.ENETUNREACH}


def command(address: str, count: int, interval_s: float, wait_s: float) -> str:
    """Return the shell command that runs this program."""
    numbers = f"{count:d} {interval_s:g} {wait_s:g}"
    return f"exec python3 -m {__name__} {ipaddress.IPv4Address(address)} {numbers}"


@dataclass(slots=True)
class _Asking:
    """Requests on one socket, and the round trips of those that were answered."""

    link: socket.socket
    identifier: int
    sent_s: list[float] = field(default_factory=list)
    seconds: dict[int, float] = field(default_factory=dict)

    def ask(self) -> None:
        packet = echo_packets.request(self.identifier, len(self.sent_s))
        self.sent_s.append(time.monotonic())
        try:
            self.link.send(packet)
        except OSError as error:
            _raise_unless_unreachable(error)

    def hear(self, until_s: float) -> None:
        """Take one packet, if one comes before that time (monotonic)."""
        wait_s = max(0.0, until_s - time.monotonic())
        if not select.select([self.link], [], [], wait_s)[0]:
            return
        now_s = time.monotonic()
        try:
            number = echo_packets.answered(self.link.recv(BYTES_MAX), self.identifier)
        except OSError as error:
            _raise_unless_unreachable(error)
            return
        if number is not None and number < len(self.sent_s):
            self.seconds.setdefault(number, now_s - self.sent_s[number])


def samples(address: str, count: int, interval_s: float, wait_s: float) -> PacketSamples:
    """Send so many requests, one each interval, and wait for the last answers. Raise OSError."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as link:
        link.connect((address, 0))
        asking = _Asking(link, os.getpid() & 0xFFFF)
        begun_s = time.monotonic()
        while len(asking.sent_s) < count:
            due_s = begun_s + len(asking.sent_s) * interval_s
            if time.monotonic() >= due_s:
                asking.ask()
                asking.hear(0.0)  # what has come: a late sender must not fill the socket's buffer
            else:
                asking.hear(due_s)
        over_s = time.monotonic() + wait_s
        while len(asking.seconds) < count and time.monotonic() < over_s:
            asking.hear(over_s)
        return PacketSamples(count, tuple(asking.seconds.values()))


def _raise_unless_unreachable(error: OSError) -> None:
    if error.errno not in _UNREACHABLE:
        raise error


if __name__ == "__main__":
    _address, _count, _interval, _wait = sys.argv[1:]
    print(echo_packets.report(samples(_address, int(_count), float(_interval), float(_wait))))
