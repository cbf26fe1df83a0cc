"""The mutual proof of two nodes that they know one cookie, before anything else on a link.

1. The acceptor begins: its name, and a number drawn for this link alone. The dialler answers with
   its own name and number, and a proof. Only a right proof is answered, by one of the other's.
2. A proof is an HMAC-SHA256 under the cookie over which end gives it, both numbers and both names:
   it is none of the other end's, none of another link's, and none of another node's.
3. Frames have fixed shapes, so that nothing is to be decoded; none is longer than
   FRAME_OCTETS_MAX, and a longer one is refused by its length.
4. Later messages are neither signed nor hidden: an attacker who can change what passes between two
   nodes is not kept out, as on Erlang's links.
"""

import hmac
from dataclasses import dataclass

NONCE_OCTETS = 32
COOKIE_OCTETS_MIN = 16
NAME_OCTETS_MAX = 255
_MAGIC = b"mqproof1"
_LENGTH_OCTETS = 2
_PROOF_OCTETS = 32
_ACCEPTED, _DIALLED = b"accepted", b"dialled"
FRAME_OCTETS_MAX = NONCE_OCTETS + _PROOF_OCTETS + NAME_OCTETS_MAX


class HandshakeError(Exception):
    """A failed proof: the other end is no peer of ours; the text says why, and reveals no
    secret."""


@dataclass(frozen=True, slots=True)
class _End:
    name: str
    nonce: bytes


class Handshake:
    """One end of a link. `nonce`: NONCE_OCTETS that cannot be guessed, never used before.
    `dialled`: the peer that was dialled; None: it dialled us.

    `peer` is None until the other end has proven its identity.
    """

    def __init__(self, cookie: str, name: str, nonce: bytes, dialled: str | None) -> None:
        assert len(nonce) == NONCE_OCTETS, "it is drawn by us"
        self.peer: str | None = None
        self.rest = b""  # what came behind the other end's proof
        self._cookie = cookie.encode()
        self._own = _End(name, nonce)
        self._dialled = dialled
        self._challenger: _End | None = None
        self._held = b""

    def begin(self) -> bytes:
        """Return what goes out as soon as there is a connection."""
        if self._dialled is not None:
            return b""
        return _frame(_MAGIC + self._own.nonce + self._own.name.encode())

    def read(self, octets: bytes) -> bytes:
        """Return the answer. Raises HandshakeError; then the link is to be closed."""
        self._held += octets
        answers = b""
        while self.peer is None and (frame := self._next()) is not None:
            answers += self._take(frame)
        if self.peer is not None:
            self.rest, self._held = self._held, b""
        return answers

    def _next(self) -> bytes | None:
        """A whole frame; None where it is not whole yet."""
        if len(self._held) < _LENGTH_OCTETS:
            return None
        ends = _LENGTH_OCTETS + int.from_bytes(self._held[:_LENGTH_OCTETS], "big")
        if ends > _LENGTH_OCTETS + FRAME_OCTETS_MAX:
            raise HandshakeError("it does not speak as a peer does")
        if len(self._held) < ends:
            return None
        frame, self._held = self._held[_LENGTH_OCTETS:ends], self._held[ends:]
        return frame

    def _take(self, frame: bytes) -> bytes:
        if self._dialled is None:
            return self._answered(frame)
        if self._challenger is None:
            return self._challenged(frame, self._dialled)
        self._check(frame, self._proof(_ACCEPTED, self._challenger, self._own))
        self.peer = self._dialled
        return b""

    def _challenged(self, frame: bytes, dialled: str) -> bytes:
        magic, nonce, name = _parts(frame, len(_MAGIC), NONCE_OCTETS)
        if magic != _MAGIC:
            raise HandshakeError("it does not speak as a peer does")
        self._challenger = _End(_name(name), nonce)
        if self._challenger.name != dialled:
            raise HandshakeError(f"it is {self._challenger.name!r}, where {dialled} was dialled")
        proof = self._proof(_DIALLED, self._challenger, self._own)
        return _frame(self._own.nonce + proof + self._own.name.encode())

    def _answered(self, frame: bytes) -> bytes:
        nonce, proof, name = _parts(frame, NONCE_OCTETS, _PROOF_OCTETS)
        dialler = _End(_name(name), nonce)
        self._check(proof, self._proof(_DIALLED, self._own, dialler))
        if dialler.name == self._own.name:
            raise HandshakeError("it has this node's own name")
        self.peer = dialler.name
        return _frame(self._proof(_ACCEPTED, self._own, dialler))

    def _check(self, proof: bytes, wanted: bytes) -> None:
        if not hmac.compare_digest(proof, wanted):
            raise HandshakeError("it does not know the cookie")

    def _proof(self, whose: bytes, accepter: _End, dialler: _End) -> bytes:
        said = (
            whose,
            accepter.nonce,
            dialler.nonce,
            accepter.name.encode(),
            dialler.name.encode(),
        )
        # Each with its length, so that no two meanings have the same octets.
        text = b"".join(len(part).to_bytes(_LENGTH_OCTETS, "big") + part for part in said)
        return hmac.digest(self._cookie, text, "sha256")


def _frame(content: bytes) -> bytes:
    assert len(content) <= FRAME_OCTETS_MAX, "names are no longer than configurations take"
    return len(content).to_bytes(_LENGTH_OCTETS, "big") + content


def _parts(frame: bytes, first: int, second: int) -> tuple[bytes, bytes, bytes]:
    if len(frame) <= first + second:
        raise HandshakeError("it does not speak as a peer does")
    return frame[:first], frame[first : first + second], frame[first + second :]


def _name(octets: bytes) -> str:
    try:
        return octets.decode()
    except UnicodeDecodeError:
        raise HandshakeError("its name is no text") from None
