"""Several consumer groups that each get every message: views of their run, and its marts
(docs/verdicts.md 4.10).

The oracle and Spark are written from this text, apart from each other, and must agree
row for row. Rows of a mart have no order. Words are those of findings.py and of facts.py. Where
facts.consumer_groups is empty, this says nothing. Else every other text is about a view: it is
judged by them as a run of its own, and the marts of the run are made of those of its views.

THE VIEW OF A GROUP, one a group. Its facts are those of the run without consumer_groups; of the
consumers among `workers` without those of other groups; of `queues` those of the group alone. The
queue of an attempt row, and of CompetingLeaders, is the group's queue `of` it; where the group has
none, it stays. Of the delivery rows it has those in a queue of the group, and those by AUDIT in a
queue that one of its own is `of`: what lies in a log lies there for every group that reads it, and
counts as found in the group's queue `of` it. Attempts, settlements and terms of a message are left
out if it was sent to a queue that queues of other groups are `of`, and none of this group, and no
delivery row of the view with header_ok and run_ok names it: this group had not to get it. A row of
terms with COMMIT_WHEN_CHECKED has COMMIT if another group
got its message by LOAD or RETRY_TOPIC, and this group did not get it by LOAD, DRAIN or
RETRY_TOPIC: what consumers were given was committed before any drain. To get a message is a
delivery row with header_ok and run_ok that names its producer and sequence. Every other row is as
it is. If the log of another group's consumer is not closed, that group may have got a message off
the record: then checks_within_ns, if there is one, is UNPROVED_NS.

A delivery row in any other queue belongs to no known group: the records break their schema.

THE VIEW OF SENDING. Its facts are those of the run without consumer_groups; its rows are all rows.

MARTS
- `counts`, `affected`: of the measures OF_SENDING the rows of the view of sending, of all others
  those of the groups. Counts of one queue, measure and detail are added.
- `attributions`: those of the groups; counts of one measure, detail and set of windows are added.
- `marks`, `examples`: by the rows of `affected` (digest.py).
- `stages`: of those OF_CONSUMING, of each window and stage the latest of the groups: one not
  reached before one reached; else the largest after_ns. All others: of the view of sending.
- UNITED: the rows of the groups; equal ones once.
- every other mart: that of the view of sending. So `delivered` in `seconds` counts a message when
  the first group gets it.
"""

from spark_analysis.schema.measures import REGISTER

UNPROVED_NS = 10**18  # longer than any run: a missing check proves nothing
OF_SENDING = frozenset(measure.name for measure in REGISTER if measure.of_sending)
OF_CONSUMING = ("consumers_resumed", "backlog_drained")  # stages
UNITED = ("consumption", "starvation", "doubts")  # marts
