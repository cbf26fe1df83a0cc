"""TLS to brokers: a worker and the agent read from their environment how certificates are checked.

1. The name that a certificate must hold is the broker's own, whichever way a connection takes: a
   proxy on the way has another address, and passes the bytes on.
2. Nothing is checked less strictly than the ssl module does by default: chain, dates and name.
"""

import json
import os
import ssl
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache

TRUST = "MQPROOF_LOGIN_TLS"


@dataclass(frozen=True, slots=True)
class Trust:
    """`ca`: a file with certificates of authorities; "": those that this machine trusts.

    `certificate` and `key`: the client's, or "". `hosts`: host -> the name that its broker's
    certificate must hold; `ways`: the same by `address:port`.
    """

    ca: str
    certificate: str
    key: str
    hosts: Mapping[str, str]
    ways: Mapping[str, str]

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Trust":
        return cls(**json.loads(text))

    def context(self) -> ssl.SSLContext:
        """Raises OSError (ssl.SSLError is one) where a file is missing or holds something else."""
        found = ssl.create_default_context(cafile=self.ca or None)
        if self.certificate:
            # Without a password here OpenSSL would ask for one at the terminal.
            found.load_cert_chain(self.certificate, self.key or None, password=lambda: "")
        return found


@cache
def trust() -> Trust | None:
    """Return what this process was given; None: connections are not encrypted."""
    text = os.environ.get(TRUST, "")
    return Trust.from_json(text) if text else None


@cache
def context() -> ssl.SSLContext:
    """Return the one context of this process, which has `trust`."""
    found = trust()
    assert found is not None, "connections are not encrypted"
    return found.context()
