"""The answer of an analysis: seventeen marts, and the terms of their rules.

The rules stand with the rows of each: counts, affected messages and charges in messages.py;
seconds, availability and stages in availability.py; that as a history (outages, service, exposure,
consumption, starvation), and the stage sustained_success, in service.py; doubts in doubts.py; what
a page needs of affected messages (marks, examples, later) in digest.py, what it draws (latencies,
sending) in curves.py. What a run cost has two marts more: costs.py. Of a run with several consumer
groups groups.py says how all of them are made.

The oracle and Spark are written from these texts, apart from each other, and must agree
row for row. Rows of a mart have no order. `producer < 0` is a canary: left out everywhere. A queue
that is None in a row is "".

WORDS
- message: (producer, sequence) with at least one attempt row. Its queue and key are those of its
  attempt rows (the same in all). An attempt row with sent_ns = NEVER_SENT is not a sent attempt.
- a settlement CONFIRMED of an attempt that was not sent, or that has a settlement RETURNED, is
  left out everywhere.
- identified delivery: header_ok, run_ok, and its (producer, sequence) has a sent attempt.
- by LOAD, DRAIN or AUDIT: what the way of a delivery row is `by` (ways.py, facts.ways). It is
  AGAIN if its way is `again`. One by AUDIT is UNCOMMITTED if its way is, else WHOLE.
- delivered: has an identified delivery by LOAD or DRAIN (whatever its attempt number or payload).
  found: has an identified delivery by AUDIT. Delivery order: (received_ns, consumer, connection,
  tag), ascending. First delivery: the first in this order by LOAD or DRAIN.
- acknowledged at, of a delivery: the earliest written_ns of the acknowledgement rows of its
  consumer and connection that cover its tag (first_tag <= tag <= last_tag). Ended at, of its
  connection: the earliest at_ns >= its received_ns of client events `lost` or `closed` of (worker
  = that consumer, connection). Where its offset is none (< 0) and that time is later than ended
  at, it is not acknowledged: the frame had no connection to the broker.
- confirm time of a message: the earliest settled_ns of its CONFIRMED settlements.
- absent: a worker is, in [from_ns, until_ns) of each Absence that names it (None: for ever).
- publish: a message whose attempt-1 row has intended_ns >= 0 (only where facts.paced), that is
  not meant to be rolled back (it is never confirmed), and whose producer was absent at no instant
  of [intended_ns, intended_ns + deadline_ns]; one whose producer was is excused instead. In time:
  confirm time <= intended_ns + deadline_ns.
- logs closed: of all publishers (or consumers): log_closed of every worker of that role.
- judged time of window w: from its origin_ns to the next window's origin_ns or load_ended_ns.
  Window 0 is the time before: [load_started_ns, origin of window 1 or load_ended_ns).
- over of a window or leadership change: its over_ns. Of a window with neither over_ns nor ended_ns
  (its host never returns): the later of the times of its stages first_success and
  consumers_resumed, less 1 ns, where both are reached: the change of master is over once serving
  and consuming have resumed. Else None: never.
- a window lies between two deliveries if it began before the later one and was not over before
  the earlier one: origin_ns < the later's received_ns, and its over is None or >= the earlier's
  received_ns. Every window counts, of whatever kind, verified or not: the queue may have changed
  its master. So does every leadership change, and the time of every process that ended without a
  plan (facts.unsettled): these may have changed it.
- terms of an attempt: its row of `terms`; without one it is neither delayed nor in a transaction.
  Each attempt in a transaction is one of its own, and holds that one message. Fate of a message:
  that of its terms rows (the same in all), NONE where it has none. Meant to be rolled back: its
  fate is ROLLBACK or ROLLBACK_WHEN_CHECKED.
- an attempt is delayed if its terms have due_ns >= 0; its wait = due_ns - sent_ns (at least 0).
  slack(attempt, workers): wait // 1000 + 1 ms (clocks of two machines do not run apart by more
  than one in a thousand; brokers count whole milliseconds), and the bound_ns of the Clocks of the
  producer and of these workers (none: 0). The wait begins in the broker, so later than sent_ns.
- an attempt was rolled back if it was sent, its fate is not NONE, and it has settlements, all of
  them REFUSED or RETURNED. One that is not settled, or is UNKNOWN, may have been committed.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from spark_analysis.schema.availability import Availability, Second, Stage
from spark_analysis.schema.curves import Latency, Sending
from spark_analysis.schema.digest import Later, Mark
from spark_analysis.schema.doubts import Doubt
from spark_analysis.schema.messages import Affected, Attribution, Count
from spark_analysis.schema.service import Consumption, Exposure, Outage, Service, Starvation


@dataclass(frozen=True, slots=True)
class Findings:
    """The seventeen marts of one run or of many."""

    counts: tuple[Count, ...]
    affected: Iterable[Affected]
    attributions: tuple[Attribution, ...]
    seconds: tuple[Second, ...]
    availability: tuple[Availability, ...]
    stages: tuple[Stage, ...]
    outages: tuple[Outage, ...]
    service: tuple[Service, ...]
    exposure: tuple[Exposure, ...]
    consumption: tuple[Consumption, ...]
    starvation: tuple[Starvation, ...]
    doubts: tuple[Doubt, ...]
    marks: tuple[Mark, ...]
    examples: tuple[Affected, ...]
    later: tuple[Later, ...]
    latencies: tuple[Latency, ...]
    sending: tuple[Sending, ...]


MARTS: dict[str, type] = {
    "counts": Count,
    "affected": Affected,
    "attributions": Attribution,
    "seconds": Second,
    "availability": Availability,
    "stages": Stage,
    "outages": Outage,
    "service": Service,
    "exposure": Exposure,
    "consumption": Consumption,
    "starvation": Starvation,
    "doubts": Doubt,
    "marks": Mark,
    "examples": Affected,
    "later": Later,
    "latencies": Latency,
    "sending": Sending,
}
