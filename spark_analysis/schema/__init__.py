"""What the harness records and the analysis answers: values, and their forms on disk.

What is recorded:
tables                    the raw tables: one fixed-width struct a record
words                     the words that records are made of, numbered once
log                       a worker's log: append-only, readable up to its last whole record
body                      the body of every message: who it is, and two checksums
facts                     what must be known of a run beside its tables: a part of manifest.json
sound                     facts held against each other
sealed                    what a run's evidence was when it was sealed
place                     where Spark is asked to run
declared                  JSON held against the declaration of a dataclass

What is answered:
findings                  the seventeen marts together, and the words in which their rules are told
messages                  what became of messages: counts, affected ones, charges
availability              seconds, silences, stages of recovery
service                   availability as a history
doubts                    what could not be judged, and why
curves                    what a page draws beside seconds: latencies, failing sends
digest                    what a page needs of affected messages, in few rows
costs                     what a run cost while nothing was wrong
sends                     whose sends failed under a fault, and until when
views                     what name servers showed, and when
comparison                what repeats of a cell say together
failed                    why a run was not judged
arrow                     tables and marts in Arrow and Spark

The register of measures:
measures                  all of it, the gravest first
measure                   what is known of one measure
measures_of_runs          those that are no classes of findings
measures_of_transactions  those that only transactions can have
provenances               where surplus deliveries come from
"""
