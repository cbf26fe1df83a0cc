"""The proof of a broker to a name server that it knows their secret, if they have one.

1. The real ones have none: if one is configured no real server is a peer. Requests of clients and
   tools need no proof.
2. The name server draws a number for each connection, and sends it on request. A proof is an
   HMAC-SHA256 under the secret over that number and all that the request says, its own number with
   it: it is none of another connection's, and none of another request's.
3. Nothing is hidden, and answers are not proven: an attacker who can change what passes is not
   kept out.
"""

import hmac
from collections.abc import Mapping

from reference_impl.rocketmq.remoting.command import Command, request

NONCE_OCTETS = 32
NONCE, PROOF = "peerNonce", "peerProof"  # fields: of a challenge's answer, and of what is proven
_LENGTH_OCTETS = 4


def proven(
    secret: str, nonce: str, code: int, number: int, fields: Mapping[str, str], body: bytes = b""
) -> Command:
    """A request with its proof."""
    signed = {**fields, PROOF: _proof(secret, nonce, code, number, fields, body)}
    return request(code, number, signed, body)


def is_proven(secret: str, nonce: str, command: Command) -> bool:
    """`nonce`: what was drawn for its connection; "" where nothing was."""
    header = command.header
    fields = {name: value for name, value in header.fields.items() if name != PROOF}
    wanted = _proof(secret, nonce, header.code, header.opaque, fields, command.body)
    given = header.fields.get(PROOF, "")
    return bool(nonce) and hmac.compare_digest(given.encode(), wanted.encode())


def _proof(
    secret: str, nonce: str, code: int, number: int, fields: Mapping[str, str], body: bytes
) -> str:
    said = [nonce, str(code), str(number)]
    said += [text for pair in sorted(fields.items()) for text in pair]
    parts = [*(text.encode() for text in said), body]
    # Each with its length, so that no two meanings have the same octets.
    text = b"".join(len(part).to_bytes(_LENGTH_OCTETS, "big") + part for part in parts)
    return hmac.digest(secret.encode(), text, "sha256").hex()
