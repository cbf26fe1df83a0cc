"""One command as one frame, and frames out of a stream of octets.

1. A frame: int32 length of all that follows, int32 mark (top byte the serialisation, the rest the
   header's length), header, body. All integers big-endian.
2. A stream that was wrong once stays wrong: where the next frame begins is not known any more.
3. What is kept of an unfinished frame is at most FRAME_MAX octets.
"""

import struct
from dataclasses import dataclass

from harness.workers.remoting import headers
from harness.workers.remoting.errors import WireError
from harness.workers.remoting.headers import RESPONSE, Header, Serialisation

FRAME_MAX = 16 * 1024 * 1024  # com.rocketmq.remoting.frameMaxLength, the length's own octets too
_LENGTHS = struct.Struct(">iI")
_LENGTH = struct.Struct(">i")
_MARK_BYTES = 4


@dataclass(frozen=True, slots=True)
class Command:
    """A request or an answer."""

    header: Header
    body: bytes = b""
    form: Serialisation = Serialisation.JSON

    @property
    def answers(self) -> bool:
        """It is an answer, and `header.opaque` says to what."""
        return bool(self.header.flag & RESPONSE)


def encode(command: Command) -> bytes:
    """The whole frame."""
    header = headers.write(command.header, command.form)
    length = _MARK_BYTES + len(header) + len(command.body)
    assert length + _LENGTH.size <= FRAME_MAX, length
    mark = command.form << 24 | len(header)
    return _LENGTHS.pack(length, mark) + header + command.body


class Decoder:
    """Commands out of octets as they come."""

    def __init__(self) -> None:
        self._octets = bytearray()
        self._error: WireError | None = None

    def feed(self, octets: bytes) -> list[Command]:
        """Return the commands that these octets complete. Raise WireError, also ever after.

        Whole commands before the wrong one are lost with it: the reader closes such a stream.
        """
        if self._error is not None:
            raise self._error
        self._octets += octets
        commands = []
        try:
            while (frame := self._frame()) is not None:
                commands.append(_command(frame))
        except WireError as error:
            self._error = error
            raise
        return commands

    def _frame(self) -> bytes | None:
        """What follows the length of the next whole frame."""
        if len(self._octets) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._octets)
        if not _MARK_BYTES <= length <= FRAME_MAX - _LENGTH.size:
            raise WireError(f"a frame of {length} octets; they have {_MARK_BYTES} to {FRAME_MAX}")
        end = _LENGTH.size + length
        if len(self._octets) < end:
            return None
        frame = bytes(self._octets[_LENGTH.size : end])
        del self._octets[:end]
        return frame


def _command(frame: bytes) -> Command:
    form, header_bytes = frame[0], int.from_bytes(frame[1:_MARK_BYTES])
    end = _MARK_BYTES + header_bytes
    if form not in Serialisation.__members__.values():
        raise WireError(f"there is no serialisation {form}")
    if end > len(frame):
        raise WireError(f"a header of {header_bytes} octets in a frame of {len(frame)}")
    serialisation = Serialisation(form)
    return Command(headers.read(frame[_MARK_BYTES:end], serialisation), frame[end:], serialisation)
