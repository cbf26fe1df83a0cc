"""Conversations with the HTTP interface: what is asked, in the words that their cases share.

1. Each case starts with no proxy, and is a story: later requests see what earlier ones did.
2. `<1>`, `<2>` … in a request are addresses that earlier answers named, in the order in which
   they were first seen; `<busy>` is an address that somebody else listens at.
"""

from dataclasses import dataclass

LOCAL = '"listen":"127.0.0.1:0"'
A = '{"name":"a",' + LOCAL + ',"upstream":"127.0.0.1:1"}'
OFF = '{"name":"off","listen":"127.0.0.1:1","upstream":"u:1","enabled":false}'
LATENCY = '{"type":"latency","attributes":{"latency":100,"jitter":5}}'


@dataclass(frozen=True, slots=True)
class Ask:
    method: str
    path: str
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()


Cases = dict[str, list[Ask]]


def get(path: str) -> Ask:
    return Ask("GET", path)


def post(path: str, body: str = "") -> Ask:
    return Ask("POST", path, body)


def patch(path: str, body: str) -> Ask:
    return Ask("PATCH", path, body)


def delete(path: str) -> Ask:
    return Ask("DELETE", path)


def refused(path: str, bodies: dict[str, str], *before: Ask) -> Cases:
    """A case for each of these bodies."""
    return {name: [*before, post(path, body)] for name, body in bodies.items()}
