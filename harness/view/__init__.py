"""The view of one run: what a person reads beside its verdicts. Nothing is judged here.

summary       what a newcomer asks: how many were lost, how long was it out, is that proved?
observations  short lines: counts and times, each judged or not, and why
audited       what the auditor started and read, in sentences
detail        what a page shows of the run: its timeline, and some messages' stories
timeline      second by second: service, faults and operations, outages
out           how long the run was out in all, and its worst queue and publisher
routes        what name servers showed, and whom clients asked
sending       each publisher's sends, second by second
failing       whose sends failed under a fault, and when he learnt better
message_traces everything recorded of one message, row by row
use           memory and disk of each broker's host over time
costs         what the run cost in its steady state: a second, a host, a message
"""
