"""Availability as a history: when a scope was out, what ended that, and who was served on
(docs/verdicts.md 7).

The oracle and the kernels are written from this text, apart from each other, and must
agree row for row. Rows of a mart have no order. Words are those of findings.py. Where not
facts.paced, or not facts.confirms, there is no history: OUTAGES and SERVICE have no rows.

WORDS
- due: a publish with load_started_ns <= intended_ns <= load_ended_ns. Good: it is in time. Bad:
  every other one.
- scope: ("run", ""), which is always there; ("queue", its name), a queue of a due publish;
  ("publisher", its number), a publisher of a due publish. Its publishes are the due ones of
  that queue or publisher, in the order (intended_ns, producer, sequence). `least` = 200 for the
  run, 20 for a queue or publisher. `enough` = 100 for the run, 20 for a queue or publisher.
- allowance(n) = max(1, n // 100): so many bad ones of n are none.
- stretches, of the publishes of one scope, numbered from 0 to N - 1 in their order:
  from i: [i, e): e = the larger of i + least and the number of publishes with intended_ns <
    intended_i + 5 s. It is whole if e <= N and intended_i + 5 s <= load_ended_ns.
  to j: [f, j + 1): f = the smaller of j + 1 - least and the number of publishes with intended_ns
    <= intended_j - 5 s. It is whole if f >= 0 and intended_j - 5 s >= load_started_ns.
  A whole one is good if its first and its last publish are good, and at most allowance(its
  length) of its publishes are bad. What lies in a good stretch is served.
- good beginnings of a scope: the first publishes of its good stretches, of both sorts.
- force of a window v: force_end_v = its earliest `undo_issued` row of faults (undo_v); without
  one ended_ns, and where that is None, load_ended_ns; at most load_ended_ns. (A fault that is
  being undone is in force no more for certain.) Its end: end_v = ended_ns, or None.
- gone at, of a window v: its earliest `gone` row of faults; without one it is unknown: at ended_v
  at the earliest, at ended_v + 5 s at the latest; never where v is not gone, or has neither. A
  window is of clients if its properties say so.
- overlap of a window v: v; and, repeatedly until there is no more of them, every window w that
  is not of clients with origin_w <= the latest gone at, and gone at_w >= the earliest origin_ns,
  of the windows in the overlap. It begins at that origin, and is over at that time. Its chain
  begins there, too; or, repeatedly, at the earliest origin of the windows not of clients that
  began before the chain, and were gone at most deadline_ns + reconnect_ns before it. It is found
  twice: with every gone at the earliest, and with every one the latest. It is over at any time
  only if both are.

OUTAGES, one row each, found in order: let p = 0 at first.
- b = the first publish from p on that is bad and not served; without one that is all.
- s = the first good beginning after b (s > b), N where there is none.
- if the bad ones among [b, s) are at most allowance(m), m = the larger of least and the number of
  publishes with intended_b <= intended_ns < intended_b + 5 s, it is no outage. Else it is a row.
- p = s, and on.
A row: `from_ns` = intended_b. With a good beginning: `until_ns` = intended_s; else, g = the first
good publish after b such that at most allowance(N - g) among [g, N) are bad: `until_ns` =
intended_g; without that, load_ended_ns. `due`, `bad`: of its publishes [b, s), or [b, g), or [b,
N).
- `windows`: the numbers of the windows v with origin_v < until_ns and from_ns < end_v (or end_v
  None), in order, with "," between; "" where there is none.
- `ended`: "never" where it ended with the load; "unknown" where with a g; else by these windows:
  those with end_v None say "system", those with from_ns >= force_end_v "system", those with
  intended_s - b >= undo_v "undo" (without one, >= end_v: it was issued before that; b = the
  largest bound_ns of the Clocks of publishers), those without an undo_v, or with intended_s + b
  >= undo_v, "either"; the others what RECOVERED_BY says. "undo" if one of them says so, else
  "either" if one does, else "system".

RECOVERED_BY, for a good beginning s of a scope, before the undo u = undo_v of a window v; d =
deadline_ns:
- from = the later of intended_s and returned_v; i = the first publish with intended_ns >= from;
  e as in a stretch from i. c, m = the numbers of publishes with intended_ns < u - d, and < u -
  d // 2, at most e. [i, x) was confirmed if at most allowance(x - i) of its publishes are bad or
  not confirmed before u. Where i < N: "system" if of [i, c) at most allowance(c - i) are bad, and
  c - i >= least, or c - i >= enough and [i, m) was confirmed; or if e <= N and [i, e) was.
- else, with a = u - d * 3 // 4 and z = u - d // 2: "undo" if u - d * 3 // 2 <= intended_s <= a; of
  the n publishes intended in [a, z) more than allowance(max(n, least)) were not confirmed before
  u; and none intended in [intended_s, z) was good, confirmed before u, and that d // 2 after its
  intended time or later. (What a fault held back in its last seconds is in time once it is over.)
- "undo", too, if of the n publishes intended in [intended_s, u) b are bad, b >= 2 and 4 b >= n.
- "undo", too, if at least enough publishes were intended in [f, u), f = the later of returned_v
  and the earlier of intended_s and u - d, and none of them was confirmed before u.
- else "either".

STAGE `sustained_success` (mart stages, of the run's scope; only where paced and confirms): the
first good beginning with intended_ns in [origin_ns, limit). Not reached: its lower bound is the
intended time of the first good publish in [origin_ns, limit) whose stretch from there is not
whole, or reaches beyond limit though of its publishes before limit at most allowance(its length)
are bad; limit where there is none. `recovered_by`: "" where it is not reached, ended_ns is None,
or it began at undo_v or later (without one, at end_v); "either" without an undo_v; else what
RECOVERED_BY says. It is `out_first`.

SERVICE, one row a window v, scope and promise:
- `promise` "fault": of sources that name no time. `from_ns` = the later of returned_v and the
  first good beginning of the scope in [origin_v, force_end_v); returned_v where there is none,
  or where an outage of the scope that `ended` calls "undo" or "either" has the until_ns that it
  begins at: what only the fault's end may have brought is no service under the fault.
- a name of facts.promises: from_ns = returned_v + its after_ns.
  Both: `until_ns` = force_end_v.
- "healed": `from_ns` = when the overlap of v is over + deadline_ns + facts.reconnect_ns;
  `until_ns` = the earliest origin_ns of a window after the overlap is over, at most load_ended_ns;
  load_ended_ns without one. Only of windows whose overlap is over at any time. If its two
  overlaps differ, each number of the row is the smaller of both.
- `in_force`: publishes with returned_v <= intended_ns < force_end_v; of "healed": as `due`.
- `due`: publishes with from_ns <= intended_ns < until_ns.
- `worst_ns`: the longest outage of the scope that matters here (below), cut to [from_ns,
  until_ns); 0 without one.
- an outage of the scope matters if it has more than allowance(k) bad publishes in [from_ns,
  until_ns), k = the larger of least and the number of publishes with t <= intended_ns < t + 5 s,
  t = the later of its from_ns and this from_ns.
- `verdict`, the first that holds:
  "few": due < 20; but "open" if more than half of them are bad; and if due = 0, until_ns - from_ns
    > 5 s, and the last publish of the scope before from_ns is bad, with intended_ns >= origin_v -
    deadline_ns (of "healed": the beginning of the chain in its place): it waits perhaps.
  "sick": an outage of the scope began before origin_v - deadline_ns and ended after origin_v
    ("never" counts): the load was sick before the fault. Of "healed": before the chain began.
  "out": an outage matters that has more than that allowance(k) bad publishes before until_ns -
    deadline_ns (whether in the interval or earlier), and
    of "healed": whatever ended it, but "unknown" only where its until_ns >= until_ns of the row,
      or more than half of its due are bad;
    of "fault": was ended by "undo" or "never", or by "unknown" with its until_ns >= this until_ns;
    of a promise of facts: likewise, or by "system".
    But "open", of "fault", if the system served at last: with t = until_ns - deadline_ns, j = the
    number of publishes with intended_ns < t and i = the smaller of j - enough and the number of
    those with intended_ns < t - 5 s, [i, j) lies in [from_ns, t) and has at most allowance(j - i)
    bad ones. (A slow load needs long for a stretch, and the next outage may
    cut it off.)
  "out", not of "healed": with u = undo_v, or ended_v without one (None: not): of the n publishes
    intended in [the later of from_ns and u - 10 s, u - 5 s), n >= enough, more than half are good
    and were not confirmed before u.
  "open": any other outage matters, but one that was ended by "system" ("fault" only).
  "out", of "fault": more than 2 outages that were ended by "system" matter; "open": 2 of them do.
    A queue that falls out again and again has not taken over.
  "open": such a one matters, and fewer than `enough` publishes are due between the end of the
    last of them and until_ns - deadline_ns: [its until_ns, until_ns - deadline_ns).
  "few": in_force < enough.
  "served".
  Let b = the largest bound_ns of the Clocks of publishers. Where b > 0 it is also found with b
  added to, and with b taken from, every time of every window (and from_ns and until_ns with
  them), the outages as they are. That of "healed" is found with each of its two overlaps. If these
  differ: "few" where they are "few" and "served", else "open".

EXPOSURE, one row a window: `from_ns` = returned_ns, `until_ns` = force_end; `due`: publishes due
in [from_ns, until_ns) (0 where there is no history); `sent`: messages whose first sent_ns is.

CONSUMPTION, one row a window v, scope and name, only where facts.workers has a consumer. L =
the smaller of the judged end of the window and force_end_v: consumption has to resume under the
fault. p, c = the largest bound_ns of the Clocks of publishers, and of consumers.
`due`: of the settlements CONFIRMED with settled_ns <= L - deadline_ns - p of
attempts with sent_ns >= returned_ns + p: those of messages of the queue. A delivery counts if it
is identified, by LOAD, of an attempt (that number's) with sent_ns >= returned_ns +
p.
- ("queue", its name): every queue with due >= 1. n, m = those of `due` of whose message a delivery
  counts with received_ns + c <= L; with received_ns - c <= L. `resumed`: 2 n >= due.
  `at_ns`: where 10 m < due, the earliest a = received_ns - c with a < L and a + 2 c >= L - 5 s, of
  first deliveries by LOAD of the queue's messages, of attempts with sent_ns < returned_ns + p
  (what was sent into the fault may wait behind these), L without one; else the earliest
  received_ns - c of a delivery of a message of the queue that counts, L where none is <= L.
- ("consumer", its number): a consumer of facts.workers, absent at no instant of [origin_ns, L],
  that before origin_ns - c received an identified delivery by LOAD, not AGAIN, without an offset
  (of logs the group reassigns its readers). Its queues: those of the messages that came to it so.
  `due`: the sum, over these, of the queue's due // the number of consumers (all of them) that
  received so from it; a row even where that is 0. But no row where it is not `resumed`, each of
  its queues promises order (QueueEnd.ordered: one consumer at a time is active), and of each a
  delivery to another consumer counts with received_ns - c <= L: that one has taken over.
  `resumed`: a delivery to this consumer, of whatever queue, counts with received_ns + c <= L;
  `at_ns`: the earliest received_ns - c <= L of one that counts; without one the earliest such a as
  above, of what came to this consumer; else L.

STARVATION, one row a span, queue and place, only where facts.confirms and facts.workers has a
consumer: how long they got nothing, though something was there for them. Spans: window 0:
[load_started_ns, the earliest origin_ns of a window, at most load_ended_ns; load_ended_ns without
one); a window whose overlap is over: from_ns and until_ns of "healed", of each of its two overlaps
if these differ. One with from_ns >= until_ns has no rows. But a window with two spans has a row of
both, of a queue and place, where one of the spans is no such one, and one has due >= 1.
- place "": the queue as a whole. Of logs also each place from which one of its deliveries was
  read: a broker that is not "" of a delivery with an offset (>= 0). Of the messages below then
  only those whose first delivery was read there, and of the deliveries only those that were.
- ready: a delivered message with a confirm time, of fate NONE or COMMIT, whose first delivery is
  not flagged (redelivered YES: its broker had given it out before, at an unknown time), is ready
  from r = the later of its confirm time and the largest due_ns of its delayed attempts. It waits
  at every t with r <= t < d, d = received_ns of its first delivery, never for one by DRAIN.
- `due`: messages of the queue that are ready from an r with from_ns <= r <= until_ns - the smaller
  of deadline_ns and 5 s; every queue and place with due >= 1.
- `longest_ns`: the times within (from_ns, until_ns) at which an identified delivery by LOAD
  of a message of the queue came cut the span into pieces [a, b). Of each: from the
  later of a and the smallest r of its messages with r < b and d >= b, to b. The longest, of equals
  the earliest; `longest_from_ns`: where it begins. Without any 0, from from_ns. (Silence.)
- `silent_at_end_ns`: the length of the last of these, if its b is until_ns; else 0.
- A message may be withheld though others come. Asked are those whose first delivery was read from
  no place, in place "", and of the others those of the place; of them all come below. Each waits
  from a = the later of r and from_ns to b = the smaller of d and until_ns; b - a > 5 s. Of first
  deliveries by LOAD (flagged or not, so of messages that need not be ready) g came
  within (a, b); k are ready from an r in [a, b). Where 2 g < max(1, k) it is withheld from s = a;
  else from s = the larger of a and the smallest d of those that are ready later than it (strictly;
  b where there is none before). Only where b - s > 5 s, and its consumer had room: a consumer is
  full while it holds as many deliveries (identified, by LOAD, of any queue; from
  received_ns until acknowledged at, or the end of the connection, if earlier) as it ever held, and
  full of a queue while it holds as many of that queue's as it ever held; it had room if it was
  full for at most half of [s, b), and of the message's queue, too, or not facts.acknowledges;
  never where facts.polls. Its consumer: that of its first delivery; of one by DRAIN any that got
  a delivery by LOAD of a message of the queue. If the largest b - s is larger than
  that of silence, it is `longest_ns`, and of equals the smallest s `longest_from_ns`.
"""

from dataclasses import dataclass

RUN, QUEUE, PUBLISHER, CONSUMER = "run", "queue", "publisher", "consumer"
FAULT, HEALED = "fault", "healed"  # promises that every window is asked for
SERVED, OUT, OPEN, SICK, FEW = "served", "out", "open", "sick", "few"
SYSTEM, UNDO, EITHER, UNKNOWN, NEVER = "system", "undo", "either", "unknown", "never"
STRETCH_NS = 5_000_000_000
LEAST = {RUN: 200, QUEUE: 20, PUBLISHER: 20}
ENOUGH = {RUN: 100, QUEUE: 20, PUBLISHER: 20}
HALF_OF, FEW_OF = (
    2,
    10,
)  # consumption resumed with half of what was due; a tenth is as good as none
RELAPSES_MAX = 2  # outages that the system ended; more under one fault are no take-over
JUDGED_MIN = 20  # fewer due are not judged


def allowance(publishes: int) -> int:
    """Return the number of bad publishes among so many that still counts as good service."""
    return max(1, publishes // 100)


@dataclass(frozen=True, slots=True, order=True)
class Outage:
    run: str
    scope: str
    name: str
    from_ns: int
    until_ns: int
    ended: str
    due: int
    bad: int
    windows: str


@dataclass(frozen=True, slots=True, order=True)
class Service:
    run: str
    window: int
    scope: str
    name: str
    promise: str
    from_ns: int
    until_ns: int
    in_force: int
    due: int
    worst_ns: int
    verdict: str

    def meets(self, outage: Outage) -> bool:
        """Return whether an outage is of this scope, and lies in its interval in part."""
        of_scope = (outage.scope, outage.name) == (self.scope, self.name)
        lasts = outage.until_ns > self.from_ns or outage.ended == NEVER
        return of_scope and outage.from_ns < self.until_ns and lasts


@dataclass(frozen=True, slots=True, order=True)
class Exposure:
    run: str
    window: int
    from_ns: int
    until_ns: int
    due: int
    sent: int


@dataclass(frozen=True, slots=True, order=True)
class Consumption:
    run: str
    window: int
    scope: str
    name: str
    due: int
    resumed: bool
    at_ns: int


@dataclass(frozen=True, slots=True, order=True)
class Starvation:
    run: str
    window: int
    queue: str
    place: str
    from_ns: int
    until_ns: int
    due: int
    longest_ns: int
    longest_from_ns: int
    silent_at_end_ns: int | None = None  # None: older marts lack it
