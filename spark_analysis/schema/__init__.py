"""The records of the harness and the answers of the analysis: values, and their forms on disk.

Records:
tables                    the raw tables: one fixed-width struct a record
words                     the enumerations in records, numbered once
ways                      the ways of deliveries: mqproof's own, and those of a system
body                      the body of every message: its identity, and two checksums
facts                     the facts of a run beside its tables: a part of manifest.json
question                  the options of a judgement beside the recorded facts
operation_times           when an operation may explain what refutes a claim about a fault
taken_clients             the clients that a fault took, and who may have taken each
sound                     consistency of facts with each other
place                     the Spark master and its settings
old_names                 names of earlier formats, converted on read
declared                  JSON documents, and their validation against a dataclass

Answers:
findings                  the seventeen marts together, and the terms of their rules
messages                  the fate of messages: counts, affected ones, charges
availability              seconds, silences, stages of recovery
service                   availability as a history
doubts                    verdicts that could not be judged, and why
curves                    charts of a page beside seconds: latencies, failing sends
digest                    affected messages for a page, in few rows
costs                     the cost of a run in its steady state
sends                     failed sends under a fault, by producer
views                     views of name servers over time
comparison                repeats of a cell, folded
groups                    several consumer groups: views of their run, and its marts
arrow                     tables and marts in Arrow and Spark

The register of measures:
measures                  all of it, the gravest first
measure                   the fields of one measure
measures_of_delays        those that only delayed messages can have
measures_of_runs          those that are no classes of findings
measures_of_transactions  those that only transactions can have
provenances               duplicate deliveries and their sources
"""
