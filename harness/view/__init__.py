"""The view of one run: what a person reads beside its verdicts. Nothing is judged here.

summary       what a newcomer asks: how many were lost, how long was it out, is that proved?
backlogs      how many messages no consumer had received when the load ended
observations  short lines: counts and times, each judged or not, and why; what the auditor did
detail        what a page shows of the run: its timeline, and some messages' stories
timeline      second by second: service, faults and operations, outages
takeovers     which host took a queue over from one that a fault hit
routes        what name servers showed, and whom clients asked
new_masters   the stages that reports show of each fault, with the new master that was shown
failing       each publisher's sends, whose failed under a fault, and when he learnt better
message_traces everything recorded of one message, row by row
trace_steps   the steps of a message's history, and which of them are shown
minorities    when overlapping faults left no majority of the nodes
pausing       why brokers that pause in a network partition closed connections
outage_answers what publishers were answered about messages that were due in an outage
late_edges    since when messages were late, inside a slice in which a fault began
costs         what the run cost in its steady state, and memory and disk of each host over time
voter_hosts   leaders by their hosts, where voters report ids
overtaking    which message overtook one that came out of order
readers       who read a message, and what a reader's acknowledgement proves
raw_lines     who first got messages out of order; slaves' copies of offsets that lag
naming        workers, faults and ends of connections by the names that people know
grouping      rows by what they share
"""
