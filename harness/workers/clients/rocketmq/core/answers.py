"""What an answer means: the outcome and strength of one attempt (docs/verdicts.md 1).

1. A SendResult is confirmed, whatever its status: the three weak ones mean stored, each with a
   strength of its own. SEND_OK has the strength that the layout declares.
2. `refused` needs a proof: a code of PROOFS, code 2 with a remark that the broker writes before it
   appends, or a connection that could not be made. It holds for one attempt, so the library's
   retries must be off. Everything else that is not a result is unknown: above all each time-out.
3. A transaction that was rolled back is refused: it must not be delivered. One whose half was
   stored and that is committed, now or when the broker asks, is confirmed.
4. Pure: what the library said is a RawAnswer, and its words are kept in `raw`, without the times
   and lengths that would make each of them a text of its own, and without where to read on.
"""

import re
from collections.abc import Iterable
from itertools import groupby

from harness.workers.clients.port import Answer
from harness.workers.clients.rocketmq.core.wire import (
    FAILED,
    HANDED_OVER,
    NO_STATE,
    Cause,
    RawAnswer,
)
from spark_analysis.schema.words import Fate, Outcome, Strength

STATUSES = ("SEND_OK", "FLUSH_DISK_TIMEOUT", "FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE")
STRENGTHS = (
    None,  # what the layout declares
    Strength.FLUSH_DISK_TIMEOUT,
    Strength.FLUSH_SLAVE_TIMEOUT,
    Strength.SLAVE_NOT_AVAILABLE,
)
STATES = ("COMMIT_MESSAGE", "ROLLBACK_MESSAGE", "UNKNOW")  # the library's own spelling
ROLLED_BACK = STATES.index("ROLLBACK_MESSAGE")

MESSAGE_ILLEGAL, NO_PERMISSION, TOPIC_NOT_EXIST, SYSTEM_BUSY = 13, 16, 17, 2
PROOFS = (MESSAGE_ILLEGAL, NO_PERMISSION, TOPIC_NOT_EXIST)
# The broker's remarks of a request that it took out of its queue, or never put there.
PRE_APPEND = ("[TIMEOUT_CLEAN_QUEUE]", "[PCBUSY_CLEAN_QUEUE]", "[REJECTREQUEST]", "[OVERLOAD]")
NOT_CONNECTED = "RemotingConnectException"
BROKER_SAID = "MQBrokerException"
_NUMBERS = re.compile(r"\d+(?=\]? ?\(?ms)|(?<=queue: )\d+")
_READ_ON = re.compile(r"\s*(For more information, please visit the url, \S+|See http\S+ .*)")
RAW_MAX = 200  # characters; each distinct text is kept once


def judge(result: RawAnswer, fate: Fate = Fate.NONE) -> Answer:
    """The outcome of the attempt `result.tag`; its time is the library's callback's."""
    if result.status == FAILED:
        outcome = Outcome.REFUSED if proven(result.causes) else Outcome.UNKNOWN
        return Answer(result.tag, outcome, None, words(result.causes), result.at_ns)
    if result.status == HANDED_OVER:
        return Answer(result.tag, Outcome.UNCONFIRMED, None, "handed over", result.at_ns)
    raw = STATUSES[result.status]
    if result.state != NO_STATE:
        raw += f" {STATES[result.state]}"
        if result.state == ROLLED_BACK or fate is Fate.ROLLBACK_WHEN_CHECKED:
            return Answer(result.tag, Outcome.REFUSED, None, raw, result.at_ns)
    return Answer(result.tag, Outcome.CONFIRMED, STRENGTHS[result.status], raw, result.at_ns)


def proven(causes: Iterable[Cause]) -> bool:
    """Whether some cause proves that the message was not stored by this attempt."""
    return any(_proves(cause) for cause in causes)


def _proves(cause: Cause) -> bool:
    if cause.name == BROKER_SAID:
        # Codes are the broker's only here: the client's own exceptions number other things.
        busy_before = cause.code == SYSTEM_BUSY and cause.remark.startswith(PRE_APPEND)
        return cause.code in PROOFS or busy_before
    return cause.name == NOT_CONNECTED


def words(causes: Iterable[Cause]) -> str:
    """The library's own words, innermost cause first: `MQBrokerException 17 topic not exist, which
    caused …`. A cause that only repeats the one before it stands once."""
    parts = [
        " ".join(part for part in (each.name, _code(each.code), each.remark) if part)
        for each in reversed(tuple(causes))
    ]
    own = [_NUMBERS.sub("#", _READ_ON.sub("", part.replace("\n", " "))) for part in parts]
    return ", which caused ".join(part for part, _ in groupby(own))[:RAW_MAX]


def _code(code: int) -> str:
    return str(code) if code >= 0 else ""
