"""The claims engine: published promises, checked against the evidence of one run.

A claim names facts (harness/plan/vocabulary.py). Evidence gives the value of each, and a judge
makes a verdict of the values. No system and no layout has a name here.

Claims:
claims      sentence, source, precondition and predicate, read from claims.toml; which can apply
articles    sources of claims, and the other contents of claims.toml

Evidence:
values      the value of one fact: a value, an interval, unknown or not applicable
state       declared and recorded facts of a run
evidence    every fact of one run, and the module that knows it
counted     counts, and how much higher they may be
hidden      losses that unfinished dequeues of a foreign history cannot explain
ordered     whether enough deliveries of each queue could be judged for order
remarks     what a claim says beside a count: allowed cases, and those not judged
terms       counts that only some messages can have: delayed ones, those of transactions
recovery    the recovery from a fault: stages, the longest silence, missed publishes
serving     service, consumption and starvation of one run, and which doubt comes first
served      whether all was served and consumed in a window: from rows of the marts
spared      publishers that a fault of client processes spared: whether they were served
degraded    why a load was degraded before a fault: by an earlier fault, or not
open_service why it is undecided whether clients were served: one reason and its remedy
attendance  when consumers could receive nothing, by their own doing
operated    outages and waits that an operation may explain
steady_state outages and silences while nothing is broken
waiting     the messages that waited when a fault came, and their fate
derived     facts that follow from others
times       the duration of a fault and of its judged time, a stage's time in words
doubts      what could not be judged, in words, and the facts that it affects; unplanned ends

Judgement:
fact_labels how evidence names facts: sentences for counts, labels
answers     one condition in one window, and what it says in words
judge       PASS, FAIL, INCONCLUSIVE or NOT APPLICABLE, and why
stories     one message's story for a FAIL
"""
