"""Addresses as Go's net package reads, writes and refuses them.

1. `split` knows the grammar only; names of hosts and services are looked up by the shell.
2. An address without a host is the wildcard, as is one without a port; both are written as such.
"""

from dataclasses import dataclass
from ipaddress import ip_address

PORT_MAX = 65_535


class AddressError(Exception):
    """An address that Go refuses, in its words."""


@dataclass(frozen=True, slots=True)
class Split:
    """`service` is a number, a name or empty."""

    host: str
    service: str


def split(address: str) -> Split:
    """Go's SplitHostPort; the empty address is allowed and names nothing."""
    if not address:
        return Split("", "")
    host, colon, service = address.rpartition(":")
    if not colon:
        raise _refused(address, "missing port in address")
    if address.startswith("["):
        host, rest = _bracketed(address, len(host))
    else:
        rest = address
        if ":" in host:
            raise _refused(address, "too many colons in address")
    if "[" in rest:
        raise _refused(address, "unexpected '[' in address")
    if "]" in rest:
        raise _refused(address, "unexpected ']' in address")
    return Split(host, service)


def port_number(service: str) -> int | None:
    """None for a name."""
    if not service:
        return 0
    if not service.lstrip("+-").isascii() or not service.lstrip("+-").isdigit():
        return None
    if int(service) not in range(PORT_MAX + 1):
        raise _refused(service, "invalid port")
    return int(service)


def is_loopback(host: str) -> bool:
    """Of an address as it stands: a name is none."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def join(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _bracketed(address: str, last_colon: int) -> tuple[str, str]:
    """The host between the brackets, and what may hold no bracket any more."""
    end = address.find("]")
    if end < 0:
        raise _refused(address, "missing ']' in address")
    if end + 1 != last_colon:
        colons = address[end + 1 : end + 2] == ":"
        raise _refused(
            address, "too many colons in address" if colons else "missing port in address"
        )
    return address[1:end], address[1:end] + address[end + 1 :]


def _refused(address: str, why: str) -> AddressError:
    return AddressError(f"address {address}: {why}")
