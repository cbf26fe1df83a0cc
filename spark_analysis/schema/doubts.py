"""The verdicts that could not be judged, with the reasons.

The oracle and Spark are written from this text, apart from each other, and must agree
row for row. Rows of a mart have no order. Words are those of findings.py.

DOUBTS: what could not be judged, and why. (scope, window, reason, worker, at_ns, late_ns); worker,
at_ns, late_ns are 0 where they say nothing.
- scope "run": ("fault", window number) one a window not verified, or not gone; ("clock", 0)
  clock_problem is not ""; ("causality", 0) one a run in which an identified delivery of a sent
  attempt (that number's) has received_ns + the bound_ns of the Clocks of producer and consumer <
  its sent_ns, or any settlement of a sent attempt has settled_ns < its sent_ns, or a CONFIRMED
  one is of an attempt that was not sent, or an identified delivery was acknowledged at < its
  received_ns: the instrument is wrong; ("records", 0) alone, where records are unreadable or break
  their schema.
- scope "availability" (what follows of "stalled" and "stalls" is of a publisher; a consumer's
  have the reasons "consumer_stalled" and "consumer_stalls"): ("stalled", window): each lateness
  row of a publisher or consumer with
  late_ns > 100 ms, for every window (0 included) whose judged time overlaps (at_ns - late_ns,
  at_ns): a < judged end and b > judged start; the part of (at_ns - late_ns, at_ns) that Absences
  of that worker cover, taken together (what two cover counts once), is taken off late_ns before it
  is compared with 100 ms, not in the row; ("stalls", window), worker, late_ns = the sum, one a
  publisher or consumer and window (0 included) where the times (at_ns - late_ns, at_ns) of its
  lateness rows, taken together (what two cover counts once), cut to the window's judged time and
  without what its absences cover, are more than 5 % of that judged time; ("publisher_log",
  window) for every window, 0 included, one a publisher whose log is not closed (worker = its
  number); ("publishers_absent", window) for every window, 0 included, where each publisher (and
  there is one) was absent at some instant of its judged time; ("consumers_absent", window):
  likewise.
- scope "loss": ("consumer_log", 0) one a consumer whose log is not closed; ("publisher_log", 0)
  one a publisher whose log is not closed; ("drain", 0) where a queue's drain is not complete: one
  a queue, worker 0, queues with an attempt row but no QueueEnd included; ("unreadable", 0) one a
  queue with places that could not be read; ("not_due", 0) and ("pending", 0) one a queue with a
  `loss_unknown` of that detail. `queue` names it.
"""

from dataclasses import dataclass


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
