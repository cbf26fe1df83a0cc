"""What an analysis answers: twelve marts, and the rules that fill them.

Those of availability as a history (outages, service, exposure, consumption, starvation), and the
stage sustained_success, have their rules in service.py. What a run cost has two marts more:
costs.py.

The plain definition and Spark are written from this text, apart from each other, and must agree
row for row. Rows of a mart have no order. `producer < 0` is a canary: left out everywhere. A queue
that is None in a row is "".

WORDS
- message: (producer, sequence) with at least one attempt row. Its queue and key are those of its
  attempt rows (the same in all). An attempt row with sent_ns = NEVER_SENT is not a sent attempt.
- identified delivery: header_ok, run_ok, and its (producer, sequence) has a sent attempt.
- delivered: has an identified delivery by LOAD, DRAIN or RETRY_TOPIC (whatever its attempt number
  or payload). found: has an identified delivery by AUDIT or HALF. Delivery order: (received_ns,
  consumer, connection, tag), ascending. First delivery: the first in this order by LOAD, DRAIN or
  RETRY_TOPIC.
- acknowledged at, of a delivery: the earliest written_ns of the acknowledgement rows of its
  consumer and connection that cover its tag (first_tag <= tag <= last_tag). Ended at, of its
  connection: the earliest at_ns of client events `lost` or `closed` of (worker = that consumer,
  connection).
- confirm time of a message: the earliest settled_ns of its CONFIRMED settlements.
- absent: a worker is, in [from_ns, until_ns) of each Absence that names it (None: for ever).
- operation: a message whose attempt-1 row has intended_ns >= 0 (only where facts.paced), that is
  not meant to be rolled back (it is never confirmed), and whose producer was absent at no instant
  of [intended_ns, intended_ns + deadline_ns]; one whose producer was is excused instead. In time:
  confirm time <= intended_ns + deadline_ns.
- logs closed: of all publishers (or consumers): log_closed of every worker of that role.
- judged time of window w: from its origin_ns to the next window's origin_ns or load_ended_ns.
  Window 0 is the time before: [load_started_ns, origin of window 1 or load_ended_ns).
- over of a window or upheaval: its over_ns. Of a window with neither over_ns nor ended_ns (its
  host never returns): the later of the times of its stages first_success and consumers_resumed,
  less 1 ns, where both are reached: the change of master is over once serving and consuming have
  resumed. Else None: never.
- a window lies between two deliveries if it began before the later one and was not over before
  the earlier one: origin_ns < the later's received_ns, and its over is None or >= the earlier's
  received_ns. Every window counts, of whatever kind, verified or not: the queue may have changed
  its master. So does every upheaval (facts.unsettled): there an operation may have changed it.
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
- `attempt_lost`, `attempt_open`, one an attempt: it was sent and has a CONFIRMED settlement, the
  fate of its message is NONE, its message is delivered, and no identified delivery (of any via) is
  of this attempt. First that holds:
  `attempt_open`: "not_due"; it is delayed, and its smallest confirming settled_ns + wait +
     slack(attempt) lies after the queue's quiet_ns (None, or no QueueEnd: so it does).
  `attempt_open`: "consumer_log", "drain" as for `loss_unknown`; "unreadable" where the queue's
     `unreadable` is not empty.
  `attempt_lost`: the name of the strongest strength of its confirms. The broker confirmed this
     copy and has it nowhere: that another copy came makes the application whole, not the broker's
     word.
- `forgotten`, `forgotten_unknown`, one an attempt, only where facts.acknowledges: of its
  identified deliveries (of any via, in delivery order) the last is by LOAD or RETRY_TOPIC, and the
  connection of that one ended at that time or later; and none of them was acknowledged at any
  time. It was given out, never acknowledged, and never came again. First that holds:
  `forgotten_unknown`: "consumer_log", "drain", "unreadable" as for `attempt_open`. `forgotten`:
  "".
- `refused_but_delivered`, one an attempt: it was sent, it has settlements, all of them REFUSED or
  RETURNED, the fate of its message is NONE, and an identified delivery by LOAD, DRAIN or
  RETRY_TOPIC is of this attempt: what the audit alone found nobody was given. "returned" where one
  of its settlements is RETURNED, else "refused".
- `denied`, one an attempt: likewise, but whether a delivery is of it or not.
- `misrouted`, one a delivery row: ""; identified, by LOAD or DRAIN, in a queue that is neither ""
  nor its message's, whose own is not "". With the queue of the message.
- `overdue`, one a message: ""; its first delivery is of a sent and delayed attempt with a
  CONFIRMED settlement, and received_ns > the later of due_ns and (the smallest confirming
  settled_ns + wait) + slack(attempt, consumer) + 1 s (brokers look at what waits once a second at
  the least). One by DRAIN counts only where facts.workers has a consumer, and that time lies
  before load_ended_ns.
- `delayed`: ""; a message with a delayed attempt. `transactions`: the fate's name in lower case; a
  message whose fate is not NONE.
- `early`, one a delivery row: ""; identified, by LOAD, DRAIN or RETRY_TOPIC, of a sent and delayed
  attempt (that number's), and received_ns + slack(attempt, consumer) < due_ns. `early_unknown`:
  ""; likewise, but received_ns < due_ns <= received_ns + slack. Both with the queue of the
  message.
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
- `unasked`, `unasked_unknown`: ""; only where facts.asks_within_ns is not None; a message that is
  acknowledged, not delivered, found by no AUDIT, and of fate COMMIT_WHEN_ASKED: nothing shows that
  the broker asked its producer. Let due = the largest settled_ns of its CONFIRMED settlements +
  asks_within_ns. `unasked`, if nothing else can be why: no attempt of it is delayed; its producer
  was there, so no client event `lost` or `closed` with worker = that producer, and no from_ns of
  an Absence of it, is <= due; no window or upheaval has origin_ns <= due and over_ns (its own)
  None or >= its confirm time; the logs of all consumers are closed, its queue's drain is complete,
  its `unreadable` is empty, and its quiet_ns is not None and > due. `unasked_unknown`: else.
- `unexpected`, one a delivery row (any via), with the delivery's own queue: header_ok and not
  run_ok: "other_run"; header and run ok but no such message: "never_sent"; a message without
  a sent attempt: "not_sent"; a message with a sent attempt, but no sent attempt of that number:
  "unknown_attempt". Unless the logs of all publishers are closed, every detail but "other_run" is
  counted as `unrecorded`, same detail.
- `corrupt`, one a delivery row (any via), delivery's queue: not header_ok: "header"; header_ok and
  not payload_ok: "payload". (A row can be corrupt and unexpected.)
- `duplicated`, one a surplus delivery: each identified delivery by LOAD, DRAIN or RETRY_TOPIC but
  the first of its message, compared with the earlier ones (by these ways); first that holds:
  "publisher_retry": its attempt was in no earlier one.
  Of what has an offset (>= 0), the first that holds:
  "ambiguous": it has no broker, for an offset alone is no place.
  "offset_rollback", "redelivery": an earlier delivery of its attempt has the same broker and
     offset. It is a rollback if the group's progress had passed such a one. Progress passes an
     offset only when everything before it is acknowledged: passed at = the largest, over all
     offsets up to this one at which identified deliveries by LOAD, DRAIN or RETRY_TOPIC came from
     this broker and queue (the earlier one's own), of the earliest acknowledged-at of the
     deliveries at that offset (none: never). Since = the later of that and the earlier one's
     received_ns. Told = since + 6 s (clients tell brokers of their progress every 5 s). Where a
     window or upheaval is in force at since (origin_ns <= since, and not over before since), what
     a client tells may be kept from the broker, or its stand-in's: told = the earliest
     received_ns >= since + 6 s at which an identified delivery by LOAD, DRAIN or RETRY_TOPIC from
     this broker and queue, of an offset larger than those of all such that were received before
     (received_ns smaller), came to the earlier one's consumer and connection (none: never). The
     broker must have known if told is before the surplus delivery's received_ns, and since + 6 s
     before the origin_ns of every window or upheaval that came after since, and before the
     connection of the earlier one ended.
  "redelivery_after_ack", "redelivery": it came by RETRY_TOPIC. It came after our acknowledgement
     if the group's progress had passed an earlier delivery of its attempt that has a broker and an
     offset, wherever that was read, so that the broker must have known, as above.
  "ambiguous": an earlier delivery of its attempt has no broker or no offset.
  "diverged": received_ns within [from_ns, until_ns] of a Rivals of the message's queue.
  "stored_twice": else: the message lies at two places.
  Of the others, the first that holds:
  "redelivery": it came by RETRY_TOPIC or redelivered is YES, and no earlier delivery of the same
     attempt was acknowledged before it (acknowledged at < its received_ns).
  "ambiguous": it came by RETRY_TOPIC or redelivered is YES, and no earlier delivery of the same
     attempt was acknowledged in time: acknowledged at <= t - 1 s, where t is the smallest of
     received_ns, of the origin_ns of every window that lies between the two, and of the time at
     which the earlier one's connection ended. What was on its way when a fault came, or when a
     connection ended, may never have arrived. It is counted as `acknowledged_late` (detail ""),
     too: what an acknowledgement promises is of older ones.
  "diverged": as above.
  "stored_twice": it did not come by RETRY_TOPIC, redelivered is NO, and no window lies between it
     and the latest earlier delivery of its attempt.
  "redelivery_after_ack": an earlier delivery of its attempt was acknowledged in time, as above: it
     does not matter how it comes back, nor whether who gives it out knows that it did before.
  "ambiguous": else; redelivered is NOT_TOLD, or it is NO, and a window lies between. A mirror that
     hears of a message only after it has taken over gives it out unflagged, whatever the old
     master did with its copy; and what a hung link held back comes after its own redelivery. From
     outside neither differs from a second copy.
- order, for each delivered message; f = its first delivery, a = the attempt that f names. First
  that holds:
  `not_judged`: "not_promised"; its queue is not `ordered` (or has no QueueEnd).
  `not_judged`: "not_at_once"; an attempt of it is delayed, or its fate is not NONE: when a broker
     gives it out has nothing to do with when it was sent.
  `not_judged`: "not_certain"; a has no sent row; or it has no CONFIRMED settlement and besides
     the message has another attempt row or a has a settlement REFUSED or RETURNED: where its copy
     stands is not certain.
  `not_judged`: "not_told"; f's redelivered is NOT_TOLD, and f has no offset; or f came by
  RETRY_TOPIC. The others are judged, within a line: of the same producer, key, queue (the
  message's) and consumer (f's). x is before y if a_x was confirmed (its smallest settled_ns)
  before a_y was sent (settled_ns < sent_ns); or if a_x and a_y were sent on one connection and
  (sent_ns, sequence) of x is smaller.
  `reordered`: ""; it is before one that was first delivered earlier (in delivery order), and
  either both are flagged (redelivered YES) or neither is.
  `reorder_unknown`: ""; not so, but it is before one that was first delivered earlier, and of the
     two the one is flagged and the other is not: what was given out to a connection that nobody
     reads may come after what was not.
  `in_order`: "".
- `missed`: ""; an operation that is not in time. `operations`: ""; every operation. `excused`: "";
  every message that is excused from being one. All only where facts.paced and facts.confirms.
A count of 0 has no row.

AFFECTED: one row for each count above except measures `state`, `confirmed`, `in_order`,
`not_judged`, `operations`, `excused`, `delayed`, `transactions`, `denied`. `sequence` and
`producer` -1 for a broken header. `attempt`: of the delivery for counts a delivery, of the attempt
for counts an attempt, else 0. `at_ns`: received_ns of the delivery for counts a delivery;
received_ns of the first delivery for `revived`, `reordered`, `reorder_unknown`, `overdue`; of the
earliest such delivery of the attempt for `refused_but_delivered`; of the last identified one of it
for `forgotten` and `forgotten_unknown`; sent_ns of the attempt for `attempt_lost`,
`attempt_open`; of the earliest delivery of that kind for `rolled_back_but_delivered` and
`rollback_unknown`; of the earliest find for `stranded`, `torn_transaction` and
`lost_indeterminate` "found"; intended_ns for `missed`; else the first sent_ns of the message (the
smallest of its sent attempts; NEVER_SENT where it has none).

CHARGES: which fault windows may have caused what, one row a measure, detail and set of windows,
with their number; of the measures `lost`, `stranded`, `unreachable`, `loss_unknown`,
`attempt_lost`, `attempt_open`, `lost_indeterminate`, `forgotten`, `forgotten_unknown`,
`duplicated`, `acknowledged_late`, `reordered`, `reorder_unknown`, `overdue`. Each case has a time
[since, by]; `windows` are the numbers, in order with "," between, of the windows with origin_ns <=
by and over_ns (its own: a host that never returns goes on causing) None or >= since; "" where
there is none.
- `lost`, `stranded`, `unreachable`, `loss_unknown`: since = the confirm time; by = should(since),
  the earliest first delivery by LOAD or RETRY_TOPIC of a message of the same queue whose confirm
  time is >= since, + deadline_ns: then it should have come; without one: never. `attempt_lost`,
  `attempt_open`: likewise, since = the attempt's smallest confirming settled_ns.
- `lost_indeterminate`: since = the message's first sent_ns, by = should(since).
- `forgotten`, `forgotten_unknown`: since = the last delivery's received_ns, by = never.
- `duplicated`: since = received_ns of the latest earlier delivery of the message (by LOAD, DRAIN
  or RETRY_TOPIC); by = its own.
- `reordered`, `reorder_unknown`: since = sent_ns of the attempt a; by = received_ns of f.
- `overdue`: since = the smallest confirming settled_ns of that attempt; by = the time after which
  it is overdue.

SECONDS: one row for every second of run time in which anything counts; second = floor(t / 1e9)
of: operations and missed by intended_ns (0 unless paced and confirms); confirmed: messages by
confirm time; delivered: messages by first delivery.

AVAILABILITY: one row a window and a queue (every queue that has an attempt row), and queue "" for
all queues together (always). Window 0: operations and missed over the whole run, silence as below
with interval [load_started_ns, load_ended_ns] - the calm and stormy whole. Windows >= 1:
operations and missed of operations intended within [origin_ns, judged end); silence of the window:
the longest silence that overlaps the interval [origin_ns, end], end = the later of
sustained_success (where reached; else load_ended_ns) and ended_ns (None: load_ended_ns), at most
load_ended_ns. The list of confirm times of messages of that queue is preceded by load_started_ns
and followed by load_ended_ns; confirm times outside of [load_started_ns, load_ended_ns] are left
out. Silence runs only while something is due: between two consecutive times (a, b) it is (a', b),
a' = a where not facts.paced; else the smallest intended_ns >= a of the operations of that queue,
and none where that is not below b. One (a', b) overlaps if a' < end and b > origin_ns. Longest
first; of equals the earliest. `silence_censored` if it ends in the closing load_ended_ns (no later
confirm; one at load_ended_ns itself ends it uncensored). If none overlaps: silence_ns 0 from
origin_ns (load_started_ns for window 0), not censored. Without confirms (facts.confirms false)
there are no rows. `silence_from_ns` is a'.

STAGES: one row a window >= 1 and stage; after_ns = time - origin_ns, uncertainty_ns = returned_ns
- origin_ns; reached false: after_ns = limit - origin_ns, a lower bound (nothing is known of later
times; sustained_success has its own). "limit" = the judged end of the window.
- `first_success`: earliest settled_ns of a CONFIRMED settlement of an attempt with sent_ns >=
  returned_ns; at most limit. Only where facts.confirms.
- `sustained_success`: service.py.
- `consumers_resumed`: earliest received_ns of an identified delivery by LOAD or RETRY_TOPIC of an
  attempt (that number's attempt row) with sent_ns >= returned_ns; at most limit.
- `backlog_drained`: only where facts.confirms and facts.workers has a consumer. A delivered
  message with a confirm time, and of another fate than COMMIT_WHEN_ASKED (nobody knows when the
  broker asked), waits too long at every t with w < t < d: w = the later of its confirm time and
  the largest due_ns of its delayed attempts, + deadline_ns; d = its first delivery's received_ns,
  never for one by DRAIN. Not reached where consumers_resumed is not, or a message waits too long
  at limit, or returned_ns > limit. Else the later of consumers_resumed and the largest d <= limit
  of those that wait too long at some t >= returned_ns (d > returned_ns and w < d).

DOUBTS: what could not be judged, and why. (scope, window, reason, worker, at_ns, late_ns); worker,
at_ns, late_ns are 0 where they say nothing.
- scope "run": ("fault", window number) one a window not verified, or not gone; ("clock", 0)
  clock_doubt is not ""; ("causality", 0) one a run in which an identified delivery of a sent
  attempt (that number's) has received_ns + the bound_ns of the Clocks of producer and consumer <
  its sent_ns, or a CONFIRMED settlement of a sent attempt has settled_ns < its sent_ns: the
  instrument is wrong; ("records", 0) alone, where records are unreadable or break their schema.
- scope "availability": ("stalled", window): each lateness row of a publisher or consumer with
  late_ns > 100 ms, for every window (0 included) whose judged time overlaps (at_ns - late_ns,
  at_ns): a < judged end and b > judged start; the part of (at_ns - late_ns, at_ns) that one
  Absence of that worker covers (of several the longest) is taken off late_ns before it is compared
  with 100 ms, not in the row; ("stalls", window), worker, late_ns = the sum, one a publisher or
  consumer and window (0 included) where the times (at_ns - late_ns, at_ns) of its lateness rows,
  taken together (what two cover counts once), cut to the window's judged time and without what its
  absences cover, are more than 5 % of that judged time; ("publisher_log", window) for every
  window, 0 included, one a publisher whose log is not closed (worker = its number);
  ("publishers_absent", window) for every window, 0 included, where each publisher (and there is
  one) was absent at some instant of its judged time; ("consumers_absent", window): likewise.
- scope "loss": ("consumer_log", 0) one a consumer whose log is not closed; ("publisher_log", 0)
  one a publisher whose log is not closed; ("drain", 0) where a queue's drain is not complete: one
  a queue, worker 0, queues with an attempt row but no QueueEnd included; ("unreadable", 0) one a
  queue with places that could not be read; ("not_due", 0) and ("pending", 0) one a queue with a
  `loss_unknown` of that detail. `queue` names it.
"""

from dataclasses import dataclass

from spark_analysis.schema.service import Consumption, Exposure, Outage, Service, Starvation


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
class Charge:
    run: str
    measure: str
    detail: str
    windows: str
    count: int


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
    """The twelve marts of one run or of many."""

    counts: tuple[Count, ...]
    affected: tuple[Affected, ...]
    charges: tuple[Charge, ...]
    seconds: tuple[Second, ...]
    availability: tuple[Availability, ...]
    stages: tuple[Stage, ...]
    outages: tuple[Outage, ...]
    service: tuple[Service, ...]
    exposure: tuple[Exposure, ...]
    consumption: tuple[Consumption, ...]
    starvation: tuple[Starvation, ...]
    doubts: tuple[Doubt, ...]


MARTS: dict[str, type] = {
    "counts": Count,
    "affected": Affected,
    "charges": Charge,
    "seconds": Second,
    "availability": Availability,
    "stages": Stage,
    "outages": Outage,
    "service": Service,
    "exposure": Exposure,
    "consumption": Consumption,
    "starvation": Starvation,
    "doubts": Doubt,
}
