"""What a replica asks of control nodes, and what they answer.

1. A replica asks all of them. Only the one that leads, and knows all that was agreed on, answers
   with a state.
2. A lease is as long as it is from the moment when the replica asked, less `age_ms`: the time
   since a majority last took that control node for the leader.
"""

import msgspec

from reference_impl.rocketmq.ctgmq.groups import Alter, Enrolled, GroupState
from reference_impl.rocketmq.remoting.fields import BadRequest


class Beat(msgspec.Struct, frozen=True, tag=True):
    """A replica's registration. `end`: of its log."""

    group: str
    name: str
    enrolled: Enrolled
    end: int


class Leave(msgspec.Struct, frozen=True, tag=True):
    """The last word of a master that stops in order, and acknowledges nothing any more."""

    group: str
    name: str


class ControlAnswer(msgspec.Struct, frozen=True):
    """`state`: None: it does not lead. `age_ms`: None: no lease. `is_refused`: the name belongs
    to another store."""

    state: GroupState | None = None
    age_ms: int | None = None
    is_refused: bool = False


ControlRequest = Beat | Leave | Alter
_DECODER: msgspec.msgpack.Decoder[ControlRequest] = msgspec.msgpack.Decoder(ControlRequest)


def read_request(body: bytes) -> ControlRequest:
    """Raises BadRequest."""
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"no request to a control node: {error}") from error
