"""What was answered: a value, or the server's own refusal.

1. Each function takes the request and its answer. It raises RequestRefused if the code is no
   answer to that request, and WireError if the answer cannot be read.
2. "There is none" is an answer, and a value of its own: None.
"""

from dataclasses import dataclass

from harness.workers.remoting import leaders, records, routes, tables
from harness.workers.remoting.commands import Command
from harness.workers.remoting.errors import RequestRefused, WireError
from harness.workers.remoting.leaders import Controllers, SyncState
from harness.workers.remoting.records import StoredMessage
from harness.workers.remoting.requests import RemotingAnswer, Request, TopicQueue
from harness.workers.remoting.routes import NOWHERE, View
from harness.workers.remoting.tables import Topic

_REJECTED = "[REJECTREQUEST]"


@dataclass(frozen=True, slots=True)
class Pulled:
    """What one pull gave. `more` False: the queue ended at `next_offset`, or before.

    `moved`: the offset that was asked for is not in the queue; it goes on at `next_offset`.
    """

    messages: tuple[StoredMessage, ...]
    next_offset: int
    min_offset: int
    max_offset: int
    more: bool
    moved: bool = False


def taken(request: Request, answer: Command) -> None:
    """It was done."""
    _allow(request, answer)


def route(request: Request, answer: Command) -> View:
    """A topic that no broker has is shown nowhere."""
    code = _allow(request, answer, RemotingAnswer.TOPIC_NOT_EXIST)
    return NOWHERE if code else routes.read_route(answer.body)


def cluster(request: Request, answer: Command) -> View:
    _allow(request, answer)
    return routes.read_cluster(answer.body)


def offset(request: Request, answer: Command) -> int:
    """Of GET_MAX_OFFSET, GET_MIN_OFFSET."""
    _allow(request, answer)
    return _integer(request, answer, "offset")


def committed(request: Request, answer: Command) -> int | None:
    """Of QUERY_CONSUMER_OFFSET; None: the group has none."""
    code = _allow(request, answer, RemotingAnswer.QUERY_NOT_FOUND)
    return None if code else _integer(request, answer, "offset")


def members(request: Request, answer: Command) -> list[str]:
    """Of GET_CONSUMER_LIST_BY_GROUP."""
    _allow(request, answer)
    return tables.read_members(answer.body)


def locked(request: Request, answer: Command) -> bool:
    """Return whether LOCK_BATCH_MQ gave the one queue that it names."""
    _allow(request, answer)
    return tables.read_locked(answer.body)


def topics(request: Request, answer: Command) -> tuple[Topic, ...]:
    _allow(request, answer)
    return tables.read_topics(answer.body)


def offsets(request: Request, answer: Command) -> dict[tuple[str, TopicQueue], int]:
    """By group and queue."""
    _allow(request, answer)
    return tables.read_offsets(answer.body)


def runtime(request: Request, answer: Command) -> dict[str, str]:
    _allow(request, answer)
    return tables.read_runtime(answer.body)


def log(request: Request, answer: Command) -> tuple[int, int]:
    """Of GET_BROKER_RUNTIME_INFO: where the log begins and ends."""
    table = runtime(request, answer)
    try:
        return int(table["commitLogMinOffset"]), int(table["commitLogMaxOffset"])
    except (KeyError, ValueError) as error:
        raise WireError(f"{request.words}: no bounds of the log: {error!r}") from error


def controllers(request: Request, answer: Command) -> Controllers:
    _allow(request, answer)
    return leaders.read_controllers(answer.header.fields)


def sync_states(request: Request, answer: Command) -> dict[str, SyncState]:
    """By group."""
    _allow(request, answer)
    return leaders.read_sync_states(answer.body)


def dledger_leader(request: Request, answer: Command) -> str:
    """Return the leader's id; empty: the member follows no leader."""
    _allow(request, answer, RemotingAnswer.DLEDGER_SUCCESS)
    return leaders.read_dledger_leader(answer.body)


def dledger_term(request: Request, answer: Command) -> int:
    """A refusal lies in the body: the answer itself is none."""
    _allow(request, answer, RemotingAnswer.DLEDGER_SUCCESS)
    return leaders.read_dledger_term(answer.body)


def gives_nothing(answer: Command) -> bool:
    """Of PULL_MESSAGE: the broker gives nothing to anybody, whatever is asked for.

    A slave of RocketMQ 5 does not, with slaveReadEnable off; it refuses before it looks.
    """
    header = answer.header
    return header.code == RemotingAnswer.SYSTEM_BUSY and header.remark.startswith(_REJECTED)


def pulled(request: Request, answer: Command) -> Pulled:
    code = _allow(
        request,
        answer,
        RemotingAnswer.PULL_NOT_FOUND,
        RemotingAnswer.PULL_RETRY_IMMEDIATELY,
        RemotingAnswer.PULL_OFFSET_MOVED,
    )
    found = code is RemotingAnswer.SUCCESS
    return Pulled(
        records.read_all(answer.body) if found else (),
        _integer(request, answer, "nextBeginOffset"),
        _integer(request, answer, "minOffset"),
        _integer(request, answer, "maxOffset"),
        more=code is not RemotingAnswer.PULL_NOT_FOUND,
        moved=code is RemotingAnswer.PULL_OFFSET_MOVED,
    )


def _allow(request: Request, answer: Command, *others: RemotingAnswer) -> RemotingAnswer:
    """The code of an answer that is success, or one of these."""
    code = answer.header.code
    if code not in (RemotingAnswer.SUCCESS, *others):
        raise RequestRefused(request.words, code, answer.header.remark)
    return RemotingAnswer(code)


def _integer(request: Request, answer: Command, name: str) -> int:
    text = answer.header.fields.get(name)
    try:
        return int(text or "")
    except ValueError as error:
        raise WireError(f"{request.words}: {name} is {text!r}, no integer") from error
