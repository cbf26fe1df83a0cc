"""Addresses, as Toxiproxy's interface writes them: HOST:PORT, with an IPv6 host in brackets.

1. `split` knows the grammar only; names of hosts are looked up by the shell.
2. An address without a host is the wildcard, as is one without a port; both are written as such.
"""

import re
from ipaddress import ip_address

PORT_MAX = 65_535
_ADDRESS = re.compile(r"(?:\[(?P<bracketed>[^\[\]]*)\]|(?P<plain>[^\[\]:]*)):(?P<port>[0-9]{0,5})")


class AddressError(Exception):
    """No address, or none that can be looked up."""


def split(address: str) -> tuple[str, int]:
    """Return host and port. The empty address is allowed and names nothing."""
    found = _ADDRESS.fullmatch(address or ":")
    port = int(found["port"] or 0) if found else 0
    if not found or port > PORT_MAX:
        raise AddressError(f"address {address}: expected HOST:PORT")
    return found["bracketed"] or found["plain"] or "", port


def is_number(host: str) -> bool:
    """Of an address as it stands: a name is none."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    return is_number(host) and ip_address(host).is_loopback


def join(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
