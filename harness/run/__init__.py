"""A run while it goes on, and all runs of an experiment, one after another.

series              all runs of an experiment, each on a clean cluster
run_group           runs that are played together wait for each other and share faults
shared_cluster      the cluster as one of them sees it
stage               the parts of a run that windows and operations use
preparing           everything before the first byte of load
prepared            a run that may begin, and the state that claims use
drivers             the client settings that a worker gets
worker_handles      the workers, as the harness sees them
drain_and_audit     connections closed, queues drained, competing leaders read
record              the harness's own log of a run
process_ends        broker processes that ended, planned or not
interrupts          requests to end runs early
signals             Ctrl-C, SIGTERM and SIGHUP
folder_lock         which process uses an experiment's folder

core/               what a run decides; the other modules carry it out
live/               one run: carries out what the conductor says
fault_windows/      one fault window: its target, armed, verified active, undone, verified ended
operations/         what operators do during a run and after it: carried out, and waited for
"""
