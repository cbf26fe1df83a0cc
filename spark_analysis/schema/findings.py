"""What an analysis answers: six marts, and the rules that fill them (DESIGN.md 4).

What a run cost has two marts more: costs.py.

The plain definition and Spark are written from this text, apart from each other, and must agree
row for row. Rows of a mart have no order. `producer < 0` is a canary: left out everywhere. A queue
that is None in a row is "".

WORDS
- message: (producer, sequence) with at least one attempt row. Its queue and key are those of its
  attempt rows (the same in all). An attempt row with sent_ns = NEVER_SENT is not a sent attempt.
- identified delivery: header_ok, run_ok, and its (producer, sequence) has a sent attempt.
- delivered: has an identified delivery by LOAD or DRAIN (whatever its attempt number or payload).
  found: has an identified delivery by AUDIT or HALF. Delivery order: (received_ns, consumer,
  connection, tag), ascending. First delivery: the first in this order by LOAD or DRAIN.
- confirm time of a message: the earliest settled_ns of its CONFIRMED settlements.
- absent: a worker is, in [from_ns, until_ns) of each Absence that names it (None: for ever).
- operation: a message whose attempt-1 row has intended_ns >= 0 (only where facts.paced), that is
  not meant to be rolled back (it is never confirmed), and whose producer was absent at no instant
  of [intended_ns, intended_ns + deadline_ns]; one whose producer was is excused instead. In time:
  confirm time <= intended_ns + deadline_ns.
- logs closed: of all publishers (or consumers): log_closed of every worker of that role.
- judged time of window w: from its origin_ns to the next window's origin_ns or load_ended_ns.
  Window 0 is the time before: [load_started_ns, origin of window 1 or load_ended_ns).
- a window lies between two deliveries if it began before the later one and was not over before
  the earlier one: origin_ns < the later's received_ns, and over_ns is None or >= the earlier's.
  Every window counts, of whatever kind, verified or not: the queue may have changed its master.
  So does every upheaval (facts.unsettled): there an operation may have changed it.
- terms of an attempt: its row of `terms`; without one it is neither delayed nor in a transaction.
  Each attempt in a transaction is one of its own, and holds that one message. Fate of a message:
  that of its terms rows (the same in all), NONE where it has none. Meant to be rolled back: its
  fate is ROLLBACK or ROLLBACK_WHEN_ASKED.
- an attempt is delayed if its terms have due_ns >= 0; its wait = due_ns - sent_ns (at least 0).
  slack(attempt, workers): wait // 1000 + 1 ms (clocks of two machines do not run apart by more
  than one in a thousand; brokers count whole milliseconds), and the bound_ns of the Clocks of the
  producer and of these workers (none: 0). The wait begins in the broker, so later than sent_ns.
- an attempt was rolled back if it was sent, its fate is not NONE, and it has settlements, all of
  them REFUSED or RETURNED. One that is not settled, or is UNKNOWN, may have been committed.

STATE, one a message, first that holds: `acknowledged` any settlement CONFIRMED; `indeterminate`
any settlement UNKNOWN or UNCONFIRMED, or a sent attempt without settlement; `returned` any
RETURNED; `refused` any REFUSED; `not_sent`. Strength of an acknowledged message: the strongest
(smallest) strength of its CONFIRMED settlements; its name in lower case is the detail.

COUNTS (measure: detail), with the message's queue; one a message unless said:
- `state`: the state's name.
- `confirmed`: strength; an acknowledged message.
- of the acknowledged messages that are not delivered and not meant to be rolled back, first that
  holds:
  `loss_unknown`: "not_due"; every CONFIRMED settlement is of a delayed attempt, and the smallest
     settled_ns + wait + slack(attempt) of them lies after the queue's quiet_ns (None, or no
     QueueEnd: nobody knows when it was quiet, so it does).
  `loss_unknown`: "pending"; its fate is COMMIT_WHEN_ASKED, and no AUDIT found it: whether the
     broker asked is not on record, so nobody knows whether it was committed.
  `stranded`: strength; it was found.
  `loss_unknown`: "consumer_log"; a consumer's log is not closed.
  `loss_unknown`: "drain"; the queue's drain is not complete (or the queue has no QueueEnd).
  `unreachable`: strength; the queue's `unreadable` is not empty.
  `lost`: strength.
- `lost_indeterminate`: indeterminate and not delivered; "found" where the audit found it, else "".
- `revived`: indeterminate and delivered; "".
- `refused_but_delivered`: state returned or refused, fate NONE, and delivered or found; the
  state's name.
- `delayed`: ""; a message with a delayed attempt. `transactions`: the fate's name in lower case; a
  message whose fate is not NONE.
- `early`, one a delivery row: ""; identified, by LOAD or DRAIN, of a sent and delayed attempt
  (that number's), and received_ns + slack(attempt, consumer) < due_ns. `early_unknown`: "";
  likewise, but received_ns < due_ns <= received_ns + slack. Both with the queue of the message.
- `rolled_back_but_delivered`: the fate's name; a message with an identified delivery by LOAD,
  DRAIN or AUDIT of an attempt (that number's) that was rolled back. (A rolled-back half stays
  where it is: HALF finds say nothing.) A commit is rolled back by the client's library where the
  half was not stored as strongly as it wants.
- `rollback_unknown`: the fate's name; not so, and meant to be rolled back, with such a delivery of
  a sent attempt: its producer died or heard nothing, so nobody knows what the broker was told.
- `torn_transaction`: strength; acknowledged, fate COMMIT, not delivered, and found, but by HALF
  only: its producer committed it, and the broker holds the half without the commit. Only where the
  logs of all consumers are closed, the drain of its queue is complete, and the message is not
  `loss_unknown`. It is stranded, too.
- `unexpected`, one a delivery row (any via), with the delivery's own queue: header_ok and not
  run_ok: "other_run"; header and run ok but no such message: "never_sent"; a message without
  a sent attempt: "not_sent"; a message with a sent attempt, but no sent attempt of that number:
  "unknown_attempt". Unless the logs of all publishers are closed, every detail but "other_run" is
  counted as `unrecorded`, same detail.
- `corrupt`, one a delivery row (any via), delivery's queue: not header_ok: "header"; header_ok and
  not payload_ok: "payload". (A row can be corrupt and unexpected.)
- `duplicated`, one a surplus delivery: each identified delivery by LOAD or DRAIN but the first of
  its message, compared with the earlier ones; first that holds:
  "publisher_retry": its attempt was in no earlier one.
  "diverged": received_ns within [from_ns, until_ns] of a Rivals of the message's queue.
  Of what has an offset (>= 0), the first that holds:
  "ambiguous": it has no broker, for an offset alone is no place.
  "offset_rollback", "redelivery": an earlier delivery of its attempt has the same broker and
     offset. It is a rollback if the group's progress had passed such a one: we acknowledged it at
     written_ns, and written_ns + 6 s (clients tell brokers of their progress every 5 s) is before
     its received_ns, before the origin_ns of every window that came after written_ns, and before
     any client event `lost` or `closed` of that connection.
  "ambiguous": an earlier delivery of its attempt has no broker or no offset.
  "stored_twice": else: the message lies at two places.
  Of the others, the first that holds:
  "ambiguous": redelivered is NOT_TOLD; or it is NO, and a window lies between it and the latest
     earlier delivery of its attempt. A mirror that hears of a message only after it has taken
     over gives it out unflagged, whatever the old master did with its copy; and what a hung link
     held back comes after its own redelivery. From outside neither differs from a second copy.
  "stored_twice": redelivered NO.
  "redelivery_after_ack": an earlier delivery of the same attempt was acknowledged by us in time:
     an acknowledgement row of its consumer and connection covers its tag (first_tag <= tag <=
     last_tag), with written_ns < t - 1 s for t = received_ns and for t = the origin_ns of every
     window that lies between the two. What was on its way when a fault came may have died with
     the master, and was not heard of by the next one however long that took to come. And that
     connection lived on: no client event `lost` or `closed` of (worker = that consumer,
     connection) with at_ns <= received_ns.
  "redelivery": else.
- order, for each delivered message, first that holds:
  `not_judged`: "not_promised"; its queue is not `ordered` (or has no QueueEnd).
  `not_judged`: "not_at_once"; an attempt of it is delayed, or its fate is not NONE: when a broker
     gives it out has nothing to do with when it was sent.
  `not_judged`: "not_first_attempt"; attempt 1 has no row or no CONFIRMED settlement, or its first
     delivery is not of attempt 1.
  `not_judged`: "redelivered"; its first delivery's redelivered is not NO, nor NOT_TOLD with an
     offset: brokers of logs flag nothing, and what they deliver first is the message itself.
  `reordered`: ""; among messages that pass the four above, of the same producer, key, queue and
     connection (attempt 1's), one with a larger sequence was first delivered earlier, in
     delivery order.
  `in_order`: "".
- `missed`: ""; an operation that is not in time. `operations`: ""; every operation. `excused`: "";
  every message that is excused from being one. All only where facts.paced and facts.confirms.
A count of 0 has no row.

AFFECTED: one row for each count above except measures `state`, `confirmed`, `in_order`,
`not_judged`, `operations`, `excused`, `delayed`, `transactions`. `sequence` and `producer` -1 for
a broken header. `attempt`: of the delivery for counts a delivery, else 0. `at_ns`: received_ns of
the delivery for counts a delivery; received_ns of the first delivery for `revived`, `reordered`;
of the earliest identified delivery of any via for `refused_but_delivered`; of the earliest
delivery of that kind for `rolled_back_but_delivered` and `rollback_unknown`; of the earliest find
for `stranded`, `torn_transaction` and `lost_indeterminate` "found"; intended_ns for `missed`; else
the first sent_ns of the message (the smallest of its sent attempts; NEVER_SENT where it has none).

SECONDS: one row for every second of run time in which anything counts; second = floor(t / 1e9)
of: operations and missed by intended_ns (0 unless paced and confirms); confirmed: messages by
confirm time; delivered: messages by first delivery.

AVAILABILITY: one row a window and a queue (every queue that has an attempt row), and queue "" for
all queues together (always). Window 0: operations and missed over the whole run, silence as below
with interval [load_started_ns, load_ended_ns] - the calm and stormy whole. Windows >= 1:
operations and missed of operations intended within [origin_ns, judged end); silence of the window:
the longest gap between consecutive confirm times (of messages of that queue) that overlaps the
interval [origin_ns, end], end = the later of sustained_success (where reached; else load_ended_ns)
and ended_ns (None: load_ended_ns), at most load_ended_ns. The list of confirm times is preceded by
load_started_ns and followed by load_ended_ns; confirm times outside of [load_started_ns,
load_ended_ns] are left out. A gap (a, b) overlaps if a < end and b > origin_ns. Longest first; of
equals the earliest. `silence_censored` if the gap ends in the closing load_ended_ns (no later
confirm; one at load_ended_ns itself ends its gap uncensored). If no gap overlaps: silence_ns 0
from origin_ns (load_started_ns for window 0), not censored. Without confirms (facts.confirms
false) there are no rows. `silence_from_ns` is a.

STAGES: one row a window >= 1 and stage; after_ns = time - origin_ns, uncertainty_ns = returned_ns
- origin_ns; reached false: after_ns = limit - origin_ns, a lower bound (nothing is known of later
times; sustained_success has its own). "limit" = the judged end of the window.
- `first_success`: earliest settled_ns of a CONFIRMED settlement of an attempt with sent_ns >=
  returned_ns; at most limit. Only where facts.confirms.
- `sustained_success`: the intended time of the first operation i (by (intended_ns, producer,
  sequence), from origin_ns on, of all queues) that is in time itself and begins a good period: the
  operations from i on that are intended before intended_i + 5 s, and at least 200 of them, of
  which at most 1 % (missed * 100 <= count) are not in time. A period is cut off, and so not good,
  if intended_i + 5 s > load_ended_ns or fewer than 200 operations follow from i on (i included).
  Periods may reach into a later window; i itself must lie before limit. One that does, and is not
  good, is open if of its n operations those intended before limit have at most 1 % of n missed.
  Not reached: its lower bound is the intended time of the first operation, from origin_ns on and
  before limit, that is in time itself and whose period is cut off or open; limit where there is
  none. Only where paced and confirms. Its after_ns is also `degraded` (reached false: `>=`).
  `owed` (of other stages ""): "" where it is not reached, ended_ns is None, or it began at undo_ns
  or later, undo_ns = the earliest at_ns of the window's rows "undo_issued" of faults; without any
  "either". "system": of the operations of the period (5 s, at least 200) from the first on that
  was intended at the later of its time and returned_ns, those intended before undo_ns -
  deadline_ns are at least 200, of which at most 1 % missed; or that period is whole, and at most
  1 % of it was missed or not confirmed before undo_ns. Else "undo": it began in [undo_ns -
  deadline_ns * 3 // 2, first_ns], first_ns = undo_ns - deadline_ns * 3 // 4; of the n operations
  intended in [first_ns, until_ns), until_ns = undo_ns - deadline_ns // 2, more than 1 % of
  max(n, 200) were not confirmed before undo_ns; and none that was intended from its time on and
  before until_ns was in time, confirmed before undo_ns, and that deadline_ns // 2 after its
  intended time or later. Else "either".
- `consumers_resumed`: earliest received_ns of an identified delivery by LOAD of an attempt (that
  number's attempt row) with sent_ns >= returned_ns; at most limit.
- `backlog_drained`: backlog(t) = messages with the later of their confirm time and the largest
  due_ns of their delayed attempts <= t < first delivery time, where a first delivery by DRAIN
  counts as never; messages not delivered at all are left out, and so are those whose fate is
  COMMIT_WHEN_ASKED (nobody knows when the broker asked). Base = the
  largest backlog in [load_started_ns, origin_ns of window 1), 0 where that is empty. The end of
  the last stretch within [returned_ns, limit] in which backlog > base; returned_ns where there is
  none; not reached where backlog(limit) > base or returned_ns > limit. Only where facts.confirms.

DOUBTS: what could not be judged, and why. (scope, window, reason, worker, at_ns, late_ns); worker,
at_ns, late_ns are 0 where they say nothing.
- scope "run": ("fault", window number) one a window not verified, or not gone; ("clock", 0)
  clock_doubt is not ""; ("records", 0) alone, where records are unreadable or break their schema.
- scope "availability": ("stalled", window): each lateness row of a publisher or consumer with
  late_ns > 100 ms, for every window (0 included) whose judged time overlaps (at_ns - late_ns,
  at_ns): a < judged end and b > judged start; the part of (at_ns - late_ns, at_ns) that one
  Absence of that worker covers (of several the longest) is taken off late_ns before it is compared
  with 100 ms, not in the row; ("publisher_log", window) for every window, 0 included, one a
  publisher whose log is not closed (worker = its number); ("publishers_absent", window) for every
  window, 0 included, where each publisher (and there is one) was absent at some instant of its
  judged time; ("consumers_absent", window): likewise.
- scope "loss": ("consumer_log", 0) one a consumer whose log is not closed; ("publisher_log", 0)
  one a publisher whose log is not closed; ("drain", 0) where a queue's drain is not complete: one
  a queue, worker 0, queues with an attempt row but no QueueEnd included; ("unreadable", 0) one a
  queue with places that could not be read; ("not_due", 0) and ("pending", 0) one a queue with a
  `loss_unknown` of that detail. `queue` names it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Count:
    run: str
    queue: str
    measure: str
    detail: str
    count: int


@dataclass(frozen=True, slots=True, order=True)
class Affected:
    run: str
    queue: str
    measure: str
    detail: str
    producer: int
    sequence: int
    attempt: int
    at_ns: int


@dataclass(frozen=True, slots=True, order=True)
class Second:
    run: str
    second: int
    operations: int
    missed: int
    confirmed: int
    delivered: int


@dataclass(frozen=True, slots=True, order=True)
class Availability:
    run: str
    window: int
    queue: str
    operations: int
    missed: int
    silence_ns: int
    silence_from_ns: int
    silence_censored: bool


@dataclass(frozen=True, slots=True, order=True)
class Stage:
    run: str
    window: int
    stage: str
    reached: bool
    after_ns: int
    uncertainty_ns: int
    owed: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Doubt:
    run: str
    scope: str
    window: int
    reason: str
    queue: str
    worker: int
    at_ns: int
    late_ns: int


@dataclass(frozen=True, slots=True)
class Findings:
    """The six marts of one run or of many."""

    counts: tuple[Count, ...]
    affected: tuple[Affected, ...]
    seconds: tuple[Second, ...]
    availability: tuple[Availability, ...]
    stages: tuple[Stage, ...]
    doubts: tuple[Doubt, ...]


MARTS: dict[str, type] = {
    "counts": Count,
    "affected": Affected,
    "seconds": Second,
    "availability": Availability,
    "stages": Stage,
    "doubts": Doubt,
}
