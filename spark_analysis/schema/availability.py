"""The course of a run: seconds, the silence of each window, the stages of recovery.

As a history, scope by scope, availability stands in service.py.

The oracle and Spark are written from this text, apart from each other, and must agree
row for row. Rows of a mart have no order. Words are those of findings.py.

SECONDS: one row for every second of run time in which anything counts; second = floor(t / 1e9)
of: operations and missed by intended_ns (0 unless paced and confirms); confirmed: messages by
confirm time; delivered: messages by first delivery.

AVAILABILITY: one row a window and a queue (every queue that has an attempt row), and queue "" for
all queues together (always). Window 0: operations and missed over the whole run, silence as below
with interval [load_started_ns, load_ended_ns] - the steady state and faults. Windows >= 1:
operations and missed of publishes intended within [origin_ns, judged end); silence of the window:
the longest silence that overlaps the interval [origin_ns, end], end = the later of
sustained_success (where reached; else load_ended_ns) and ended_ns (None: load_ended_ns), at most
load_ended_ns. The list of confirm times of messages of that queue is preceded by load_started_ns
and followed by load_ended_ns; confirm times outside of [load_started_ns, load_ended_ns] are left
out. Silence runs only while something is due: between two consecutive times (a, b) it is (a', b),
a' = a where not facts.paced; else the smallest intended_ns >= a of the publishes of that queue,
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
- `consumers_resumed`: earliest received_ns of an identified delivery by LOAD of an
  attempt (that number's attempt row) with sent_ns >= returned_ns; at most limit.
- `backlog_drained`: only where facts.confirms and facts.workers has a consumer. A delivered
  message with a confirm time, and of another fate than COMMIT_WHEN_CHECKED (unknown is when the
  broker asked), waits too long at every t with w < t < d: w = the later of its confirm time and
  the largest due_ns of its delayed attempts, + deadline_ns; d = its first delivery's received_ns,
  never for one by DRAIN. Not reached where consumers_resumed is not, or a message waits too long
  at limit, or returned_ns > limit. Else the later of consumers_resumed and the largest d <= limit
  of those that wait too long at some t >= returned_ns (d > returned_ns and w < d).
"""

from dataclasses import dataclass


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
    recovered_by: str = ""
