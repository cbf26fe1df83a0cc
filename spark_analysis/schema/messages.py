"""The fate of messages: counts, affected messages, and the faults that may have caused them.

The oracle and Spark are written from this text, apart from each other, and must agree
row for row. Rows of a mart have no order. Words are those of findings.py.

STATE, one a message, first that holds: `acknowledged` any settlement CONFIRMED; `indeterminate`
any settlement UNKNOWN or UNCONFIRMED, or a sent attempt without settlement; `returned` any
RETURNED; `refused` any REFUSED; `not_sent`. Strength of an acknowledged message: the strongest
(smallest rank) of its CONFIRMED settlements; its label (`Facts.levels`) is the detail.

COUNTS (measure: detail), with the message's queue; one a message unless said:
- `state`: the state's name.
- `confirmed`: strength; an acknowledged message.
- of the acknowledged messages that are not delivered and not meant to be rolled back, first that
  holds:
  `loss_unknown`: "not_due"; every CONFIRMED settlement is of a delayed attempt, and the smallest
     settled_ns + wait + slack(attempt) of them lies after the queue's quiet_ns (None, or no
     QueueEnd: load_ended_ns, for it was not quiet before).
  `loss_unknown`: "pending"; its fate is COMMIT_WHEN_CHECKED, and no find of it is WHOLE: whether
     the broker asked is not on record, so its commit is unknown.
  `stranded`: strength; it was found. Not so, and `unreachable`, where all its finds are
     UNCOMMITTED, the logs of all consumers are closed, the queue's drain is complete and its
     `unreadable` is not empty: an unread place may hold the commit.
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
     slack(attempt) lies after the queue's quiet_ns (None, or no QueueEnd: load_ended_ns).
  `attempt_open`: "consumer_log", "drain" as for `loss_unknown`; "unreadable" where the queue's
     `unreadable` is not empty.
  `attempt_lost`: the name of the strongest strength of its confirms. The broker confirmed this
     copy and has it nowhere: that another copy came makes the application whole, not the broker's
     word.
- `not_redelivered`, `not_redelivered_unknown`, one an attempt, only where facts.acknowledges: of
  its identified deliveries (of any via, in delivery order; where facts.brokers_keep_progress
  without those by AUDIT with an offset, for a log keeps everything) the last is by LOAD, and the
  connection of that one ended at that time or later; and none of them was acknowledged at any
  time. It was given out, never acknowledged, and never came again. A connection ended, too, if it
  has no such end and an Absence of its consumer has until_ns None: it died with it; or if it has
  no end at all, a client event `consuming` is of it, and "consumer_log", "drain" and "unreadable"
  do not hold: all connections are gone when the drain begins. First that holds:
  `not_redelivered_unknown`: "consumer_log", "drain", "unreadable" as for `attempt_open`;
     "consumer_killed" where the connection has no end of its own, and such an Absence: its last
     acknowledgements may have been sent, and not written down; "end_not_recorded" where it has
     none, and no such Absence; "acknowledged_at_the_end" where a frame that covers the
     last delivery has written_ns <= ended at + 1 s; "unconfirmed" where the attempt has no
     CONFIRMED settlement, and a leadership change, or a window that spares no broker (not
     of_clients, not of_client_links), has over_ns (its own) None or >= the last delivery's
     received_ns - the bound_ns of its consumer's Clock: a broker may give out what it has not
     confirmed yet.
  `not_redelivered`:
  "".
- `refused_but_delivered`, one an attempt: it was sent, it has settlements, all of them REFUSED or
  RETURNED, the fate of its message is NONE, and an identified delivery by LOAD or
  DRAIN is of this attempt: no consumer got what the audit alone found. "returned" where one
  of its settlements is RETURNED, else "refused".
- `denied`, one an attempt: likewise, but whether a delivery is of it or not.
- `misrouted`, one a delivery row: ""; identified, by LOAD or DRAIN, not AGAIN, in a queue that is
  neither "" nor its message's, with one of its own that is not "". With the queue of the message.
- `overdue`, one a message: ""; its first delivery is of a sent and delayed attempt with a
  CONFIRMED settlement, and received_ns > the later of due_ns and (the smallest confirming
  settled_ns + wait) + slack(attempt, consumer) + 1 s (brokers look at what waits once a second at
  the least). One by DRAIN counts only where facts.workers has a consumer, and that time lies
  before load_ended_ns.
- `delayed`: ""; a message with a delayed attempt. `transactions`: the fate's name in lower case; a
  message whose fate is not NONE.
- `could_show`, one a message and class that it could have shown; the detail is the class:
  "early": an identified delivery by LOAD or DRAIN is of a sent and delayed attempt.
  "overdue": its first delivery is of a sent and delayed attempt with a CONFIRMED settlement.
  "rolled_back_but_delivered": an attempt of it was rolled back.
  "torn_transaction", "unchecked": acknowledged, and its fate is COMMIT, or COMMIT_WHEN_CHECKED.
  "attempt_lost": acknowledged, its fate is NONE, and it has several sent attempts.
  "not_redelivered": only where facts.acknowledges: an identified delivery by LOAD
  is of one of its attempts, its connection ended then or later (as above), and neither it nor an
  earlier one (of any via, in delivery order) of that attempt was acknowledged at any time.
- `early`, one a delivery row: ""; identified, by LOAD or DRAIN, of a sent and delayed attempt
  (that number's), and received_ns + slack(attempt, consumer) < due_ns. `early_unknown`:
  ""; likewise, but received_ns < due_ns <= received_ns + slack. Both with the queue of the
  message.
- `rolled_back_but_delivered`: the fate's name; a message with an identified delivery, by LOAD or
  DRAIN, or WHOLE, of an attempt (that number's) that was rolled back. (A rolled-back one stays
  where it is: UNCOMMITTED finds say nothing.) A commit is rolled back by the client's
  library where the message was not stored as strongly as it wants.
- `rollback_unknown`: the fate's name; not so, and meant to be rolled back, with such a delivery of
  a sent attempt: its producer died or heard nothing, so the fate that the broker got is unknown.
- `torn_transaction`: strength; acknowledged, fate COMMIT, not delivered, and found, but
  UNCOMMITTED only: its producer committed it, and the broker holds it without the commit. Only
  where the logs of all consumers are closed, the drain of its queue is complete, its `unreadable`
  is empty, and the message is not `loss_unknown`. It is stranded, too.
- `unchecked`, `unchecked_unknown`: ""; only where facts.checks_within_ns is not None; a message
  that is acknowledged, not delivered, without a WHOLE find, and of fate COMMIT_WHEN_CHECKED:
  nothing shows that the broker asked its producer. Let due = the largest settled_ns of its
  CONFIRMED settlements + checks_within_ns. `unchecked`, if nothing else can be why: no attempt of
  it is delayed; its producer was there, so no client event `lost` or `closed` with worker = that
  producer, and no from_ns of an Absence of it, is <= due, and its log is closed; no window or
  leadership change has origin_ns <= due and over_ns (its own) None or >= its confirm time; the
  logs of all consumers are closed, its queue's drain is complete, its `unreadable` is empty, and
  its quiet_ns is not None and > due. `unchecked_unknown`: else.
- `unexpected`, one a delivery row (any via), with the delivery's own queue: header_ok and not
  run_ok: "other_run"; header and run ok but no such message: "never_sent"; a message without
  a sent attempt: "not_sent"; a message with a sent attempt, but no sent attempt of that number:
  "unknown_attempt". Unless the logs of all publishers are closed, every detail but "other_run" is
  counted as `unrecorded`, same detail.
- `corrupt`, one a delivery row (any via), delivery's queue: not header_ok: "header"; header_ok and
  not payload_ok: "payload". (A row can be corrupt and unexpected.)
- `duplicated`, one a duplicate delivery: each identified delivery by LOAD or DRAIN
  but the first of its message, compared with the earlier ones (by these ways); first that holds.
  A consumer's times are known up to the bound_ns of its Clock (0 without one): the received_ns of
  its deliveries, the acknowledged-at of them, the end of its connection. A comparison of such a
  time with a time of a window, of CompetingLeaders or of another delivery adds the bound, or the
  bounds of both, so that the comparison holds by any clock within them: acknowledged in time, met
  by a window, the connection ended before, within CompetingLeaders, since, reported. A comparison
  that denies is bounded likewise: no acknowledgement before it, no window between, the connection
  not ended before. Only an acknowledgement and the end of its own connection are compared as they
  are; so are two times of one consumer where an end, or the order of two deliveries, is asked
  for. Of a group's progress b = the largest bound_ns of all Clocks, and 2 b of two consumers.
  A connection without an end (client event lost or closed) may have ended from its last record on,
  if its consumer's log is not closed; or, as far as a delivery without an offset is concerned, if
  a delivery by DRAIN is of the same attempt: the last record is the largest received_ns, of any
  delivery, and written_ns of its consumer and connection. One whose ends all lie before the
  delivery may have ended at its received_ns. Acknowledged in time, and reported, need that to be
  no end either.
  Acknowledged at < received_ns is a wrong record: it is not in time, no progress passes by it, and
  it is older than any second.
  "publisher_retry": its attempt was in no earlier one.
  Of what has an offset (>= 0), the first that holds:
  "ambiguous": it has no broker, for an offset alone is no place.
  "offset_rollback", "redelivery": an earlier delivery of its attempt has the same broker and
     offset. It is a rollback if the group's progress had passed such a one. Progress passes an
     offset only when everything before it is acknowledged: passed at = the largest, over all
     smaller offsets at which identified deliveries by LOAD or DRAIN came from
     this broker and queue (the earlier one's own), of the earliest acknowledged-at of the
     deliveries at that offset (none: never); and of that of the deliveries of this message at
     this offset (a log that lost its end has another message there later). Since = the later of
     that and the earlier one's received_ns. Reported = since + 6 s (clients report their progress
     to brokers every 5 s). If a window or leadership change is in force at since (origin_ns <=
     since, and not over before since), a client's report may not reach the broker, or its
     stand-in: reported = the earliest
     received_ns >= since + 6 s at which an identified delivery by LOAD or DRAIN from
     this broker and queue, of an offset larger than those of all such that were received before
     (received_ns smaller), came to the earlier one's consumer and connection (none: never). The
     broker must have known if reported is before the duplicate delivery's received_ns, and since +
     6 s before the origin_ns of every window or leadership change that came after since, and
     before the connection of the earlier one ended.
  "redelivery_after_ack", "redelivery": it is AGAIN. It came after our acknowledgement
     if the group's progress had passed an earlier delivery of its attempt that has a broker and an
     offset, wherever that was read, so that the broker must have known, as above.
  "ambiguous": an earlier delivery of its attempt has no broker or no offset.
  "diverged": received_ns within [from_ns, until_ns] of a CompetingLeaders of the message's queue.
  "stored_twice": else: the message lies at two places.
  Of the others, the first that holds. For these a window of_clients that took none of the
  consumers of the attempt's deliveries by LOAD or DRAIN (as acknowledged_late says it, below) lies
  between none of them, and met none.
  "ambiguous": it and the latest earlier delivery of its attempt are of two consumers, one of them
     is AGAIN or has redelivered YES and the other did not, and the received_ns of the
     earlier one, + the bounds of both, is larger: which of them came first is unknown.
  "diverged" (as above), "stored_twice": only where not facts.acknowledges; the broker must have
     deleted an earlier delivery of the same attempt, by LOAD, without an offset: its received_ns
     is acknowledged in time, without the second before the later received_ns. Not so where the end
     of the latest one's connection is unknown (below): it is another, and no client_events row has
     its consumer as its worker.
  "redelivered_without_cause", "redelivery": it is AGAIN or redelivered is YES, and no earlier
     delivery of the same attempt was acknowledged before it (acknowledged at < its received_ns).
     Without cause, if no window lies between it and the latest earlier delivery of its attempt,
     both came by LOAD, not AGAIN, to the same consumer and connection, that connection had not
     ended before (ended at < its received_ns), and any acknowledgement row is of it; and its
     consumer may not have requeued it: no client event `requeued` of that connection has at_ns >=
     the earlier received_ns and < the later one, and a `detail` that is the earlier one's tag, or
     no tag (1 to 18 digits). Nor so where a cause may be hidden: no client_events row has that
     consumer as its worker, or the later tag is not larger than the earlier one.
  "ambiguous": it is AGAIN or redelivered is YES, and no earlier delivery of the same attempt was
     acknowledged in time: acknowledged at <= t - 1 s, where t is the smallest of received_ns, of
     the origin_ns of every window that lies between the two, and of the time at which the earlier
     one's connection ended. What was on its way when a fault came, or when a connection ended, may
     never have arrived. It is counted as `acknowledged_late` (detail ""), too, unless an earlier
     delivery of its attempt was acknowledged at <= its received_ns - 1 s and that was met by
     nothing: acknowledged at <= the end of its connection - 1 s; and at <= origin_ns - 1 s or >
     returned_ns (of a leadership change its origin_ns) + 1 s of every window that was not over
     before that delivery. A window of_clients meets only consumers that it took, if an Absence
     shows whom it took: one whose from_ns is >= origin_ns and <= ended_ns (None: any), of several
     windows of_clients for which this holds, of those with the largest origin_ns.
  "diverged", "ambiguous": as above. It is "ambiguous" if redelivered is NOT_REPORTED, and no
     earlier delivery of its attempt was acknowledged in time: it may be a redelivery.
  "redelivery": it is not AGAIN, redelivered is not YES, no earlier delivery of its attempt was
     acknowledged before it, and the connection of the latest of them had ended before.
  "stored_twice": it is not AGAIN, redelivered is NO, no window lies between it and
     the latest earlier delivery of its attempt, and the connection of that had not ended before,
     nor may its consumer have requeued it (likewise, bounded as an end is).
     An end is possible, and it is "ambiguous", where that connection may have ended before (above,
     bounded as an end is), and where no earlier delivery of its attempt was
     acknowledged before it, that connection is another, and no client_events row has that
     consumer as its worker.
  "redelivery_after_ack": an earlier delivery of its attempt was acknowledged in time, as above: it
     does not matter how it comes back, nor whether who gives it out knows that it did before.
  "ambiguous": else; redelivered is NOT_REPORTED, or it is NO, and a window lies between. A mirror
     that hears of a message only after it has taken over gives it out unflagged, whatever the old
     master did with its copy; and what a hung link held back comes after its own redelivery. From
     outside neither differs from a second copy.
- order, for each delivered message; f = its first delivery that is not `misrouted` (without one:
  its first delivery), a = the attempt that f names. First that holds:
  `not_judged`: "not_promised"; its queue is not `ordered` (or has no QueueEnd).
  `not_judged`: "not_at_once"; an attempt of it is delayed, or its fate is not NONE: when a broker
     gives it out has nothing to do with when it was sent.
  `not_judged`: "not_certain"; a has no sent row; or it has no CONFIRMED settlement and also
     the message has another attempt row or a has a settlement REFUSED or RETURNED: where its copy
     stands is not certain. Or an effect came before its cause: the smallest settled_ns of a's
     CONFIRMED settlements, or received_ns of f + the bound_ns of the Clocks of producer and
     consumer, is < a's sent_ns: its times prove nothing. Or f is `misrouted`.
  `not_judged`: "not_reported"; f's redelivered is NOT_REPORTED, and f has no offset; or f is
  AGAIN. The others are judged, within a line: of the same producer, key and queue (the
  message's). x is before y if a_x was confirmed (its smallest settled_ns)
  before a_y was sent (settled_ns < sent_ns); or if a_x and a_y were sent on one connection and
  sent_ns of x is smaller, or the same, both are attempt 1, and sequence of x is smaller.
  `reordered`: ""; it is before one that was first delivered earlier (in delivery order), either
  both are flagged (redelivered YES; if facts.requeues_behind only of a log) or neither is,
  and one of these holds: both came to one consumer, and, if it is split there, by one
  connection; or f's consumer has no Clock, a was confirmed before the other's attempt was sent,
  and the other was first delivered before every one of the line whose first delivery has f's
  consumer and connection. A consumer is split in a line if of its first deliveries there one by
  one connection lies between two by another. Of a log (f has an offset) every consumer is split
  unless facts.brokers_keep_progress, and the second of these never holds: it may have requested
  a later offset first. But it is `reordered`, too, if f has a broker, and an offset larger than
  that of one of the line that it is before, from the same broker (of equal ones the later
  delivery's counts as larger).
  `reorder_unknown`: ""; not so, but it is before one that was first delivered earlier: of the two
     the one is flagged and the other is not (what was given out to a connection that no client
     reads may come after what was not), or both are, not of a log, and facts.requeues_behind, or
     two consumers read beside each other.
  `in_order`: "".
- `missed`: ""; a publish that is not in time. `operations`: ""; every publish. `excused`: "";
  every message that is excused from being one. All only where facts.paced and facts.confirms.
A count of 0 has no row.

AFFECTED: one row for each count above except measures `state`, `confirmed`, `in_order`,
`not_judged`, `operations`, `excused`, `delayed`, `transactions`, `could_show`, `denied`.
`sequence` and `producer` -1 for a broken header. `attempt`: of the delivery for counts a delivery,
of the attempt for counts an attempt, else 0. `at_ns`: received_ns of the delivery for counts a
delivery; received_ns of the first delivery for `revived`, `reordered`, `reorder_unknown`,
`overdue`; of the earliest such delivery of the attempt for `refused_but_delivered`; of the last
identified one of it for `not_redelivered` and `not_redelivered_unknown`; sent_ns of the attempt
for `attempt_lost`, `attempt_open`; of the earliest delivery of that kind for
`rolled_back_but_delivered` and `rollback_unknown`; of the earliest find for `stranded`,
`torn_transaction` and `lost_indeterminate` "found"; intended_ns for `missed`; else the first
sent_ns of the message (the smallest of its sent attempts; NEVER_SENT where it has none).

CHARGES: which fault windows may have caused what, one row a measure, detail and set of windows,
with their number; of the measures `lost`, `stranded`, `unreachable`, `loss_unknown`,
`attempt_lost`, `attempt_open`, `lost_indeterminate`, `not_redelivered`, `not_redelivered_unknown`,
`duplicated`, `acknowledged_late`, `reordered`, `reorder_unknown`, `overdue`, `early`,
`early_unknown`, `rolled_back_but_delivered`, `rollback_unknown`, `torn_transaction`. Each case has
a time [since, by]; `windows` are the numbers, in order with "," between, of the windows that reach
into it, those with origin_ns <= by and over_ns (its own: a host that never returns goes on
causing) None or >= since; "" where there is none.
Let b = the largest bound_ns of the Clocks of publishers + that of consumers. `windows` are those
that reach into [first - b, by + b], with should(since + 2 b) where by = should(since); first =
since, or where by = should(since) the smaller one of since and sent: sent_ns of the attempt, or
the smallest of the message's attempts with a confirm. If there are such, and none reaches into
[since + b, by - b] (origin_ns <= by - b, and over_ns, or ended_ns where over_ns is None, is None
or >= since + b), with should(since - 2 b), it is open whether any fault caused it: "0", for no
fault, stands before them. So it does if one of facts.operated reaches into [first - b, by + b].
Of a measure that is `of_brokers` (measure.py) windows that spare brokers (of_clients, or
of_client_links) are left out, in both places, where one that does not is among `windows`.
- `lost`, `stranded`, `unreachable`, `loss_unknown`: since = the confirm time; by = should(since),
  the earliest first delivery by LOAD, not AGAIN, of a message of the same queue whose confirm
  time is >= since, + deadline_ns: then it should have come; without one: never. In a log the
  latest of these of all brokers (of first deliveries with an offset). Of a message with
  a delayed attempt not before the largest due_ns of these + deadline_ns. `attempt_lost`,
  `attempt_open`: likewise, since = the attempt's smallest confirming settled_ns.
- `lost_indeterminate`: since = the message's first sent_ns, by = should(since).
- `not_redelivered`, `not_redelivered_unknown`: since = the last delivery's received_ns, by =
  never.
- `duplicated`: since = received_ns of the latest earlier delivery of the message (by LOAD
  or DRAIN); by = its own.
- `reordered`, `reorder_unknown`: since = sent_ns of the attempt a; by = received_ns of f.
- `overdue`: since = the smallest confirming settled_ns of that attempt; by = the time after which
  it is overdue.
- `early`, `early_unknown`, `rolled_back_but_delivered`, `rollback_unknown`: since = sent_ns of the
  delivered attempt; by = received_ns of that delivery, or find.
- `torn_transaction`: as `stranded`.
"""

from dataclasses import dataclass

NO_FAULT = 0  # among the windows of an Attribution


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
class Attribution:
    run: str
    measure: str
    detail: str
    windows: str
    count: int
