"""Commands out of a stream of octets.

1. A stream that was wrong once stays wrong: where the next frame begins is not known any more.
2. Of an unfinished frame at most FRAME_MAX octets are kept, and none that was not received: a
   length that is announced costs nothing.
"""

import struct

from reference_impl.rocketmq.remoting import header_json
from reference_impl.rocketmq.remoting.command import (
    FRAME_MAX,
    MARK_BYTES,
    Command,
    Form,
    read_bits,
)
from reference_impl.rocketmq.remoting.header import HeaderError

_LENGTH = struct.Struct(">i")


class Decoder:
    """Of one connection."""

    def __init__(self) -> None:
        self._octets = bytearray()

    def feed(self, octets: bytes) -> list[Command]:
        """Return the commands that these octets complete. Raises HeaderError; the reader is of no
        use then."""
        self._octets += octets
        commands, at = [], 0
        while (end := self._end(at)) is not None:
            commands.append(_command(bytes(self._octets[at + _LENGTH.size : end])))
            at = end
        del self._octets[:at]
        return commands

    def _end(self, at: int) -> int | None:
        """Return where the frame that begins there ends, if it is whole."""
        if len(self._octets) < at + _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._octets, at)
        if not MARK_BYTES <= length <= FRAME_MAX:
            raise HeaderError(f"a frame of {length} octets; they have {MARK_BYTES} to {FRAME_MAX}")
        end: int = at + _LENGTH.size + length
        return end if end <= len(self._octets) else None


def _command(frame: bytes) -> Command:
    """Of what follows the length."""
    number, header_bytes = frame[0], int.from_bytes(frame[1:MARK_BYTES])
    end = MARK_BYTES + header_bytes
    if end > len(frame):
        raise HeaderError(f"a header of {header_bytes} octets in a frame of {len(frame)}")
    try:
        form = Form(number)
    except ValueError as error:
        raise HeaderError(f"there is no header of form {number}") from error
    read = header_json.read if form is Form.JSON else read_bits
    return Command(read(frame[MARK_BYTES:end]), frame[end:], form)
