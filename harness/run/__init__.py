"""A run while it goes on, and all runs of an experiment, one after another.

series              all runs of an experiment, each on a clean cluster
live                one run: carries out what the conductor says
tasks               what takes long in it, beside its loop
replacing           clients in dead ones' places
kept_manifest       its manifest, saved at every step
live_view           what people see of it
conductor           the order of a run: the next step, given what happened
conductor_protocol  the messages between the two
barrier             PURE: which of the runs that are played together arrived where
run_group           runs that are played together wait for each other and share faults
shared_cluster      the cluster as one of them sees it
stage               the parts of a run that windows and operations use
preparing           everything before the first byte of load
prepared            a run that may begin, and the state that claims use
drivers             the client settings that a worker gets
worker_handles      the workers, as the harness sees them
resolving           late-bound words become hosts
aiming              a planned fault gets its target, when its window opens
windows             one fault window: armed, verified active, undone, verified ended
window_state        the state of a window: its target, its armed fault, its facts
verifying           the looks at its fault, and what they prove
resolved_target     the role of a fault's target for the queues, and until when that may change
operating           operations: carried out, and waited for
stopping            the hosts that operations have stopped
afterwards          what brokers report after an operation
promoting           an operator promotes a mirror
rejoining           the role of a host that is back, and what it holds
drain_and_audit     connections closed, queues drained, competing leaders read
auditor             restarts what did not recover by itself
record              the harness's own log of a run
clocks              whether the clocks of a run's processes can be trusted
process_ends        broker processes that ended, planned or not
interrupts          requests to end runs early
signals             Ctrl-C, SIGTERM and SIGHUP
folder_lock         which process uses an experiment's folder
view                what a person sees of a run while it goes on
progress            how far a run is, and what it waits for while nothing is planned
strip               the share on time, second by second
live_strip          that strip during a run
"""
