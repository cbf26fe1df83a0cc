"""One run, live: what the conductor says is carried out, saved and shown.

live_run         carries out what the conductor says, and cleans up; its tasks
parts            what the modules of this folder share of a run
load             the load: begun, stopped, closed
run_timeline     windows and operations, each when its time has come
after_load       queues drained and audited, remaining queues deleted
early_end        why a run ends before its time
cluster_reports  what the cluster reports beside it: resources, process ends
replacing        clients in dead ones' places
kept_manifest    its manifest, saved at every step
live_view        what people see of it
live_strip       the strip of that view
"""
