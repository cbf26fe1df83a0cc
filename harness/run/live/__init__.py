"""One run, live: what the conductor says is carried out, saved and shown.

live_run         carries out what the conductor says, and cleans up; its tasks
load             the load: begun, stopped, closed
run_timeline     windows and operations, each when its time has come
after_load       queues drained and audited, remaining queues deleted
early_end        why a run ends before its time
cluster_reports  what the cluster reports beside it: resources, process ends
replacing        clients in dead ones' places

state/           what a run is made of, and what is saved and shown of it
"""
