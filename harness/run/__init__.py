"""A run while it goes on, and all runs of an experiment, one after another.

series              all runs of an experiment, on clusters that are clean when a run begins
live                one run: carries out what the conductor says
conductor           the order of a run: what is to be done now, given what happened
conductor_protocol  what passes between the two
rendezvous          runs that are played together meet: pure
together            they wait for each other, and do once what strikes all
shared_cluster      the cluster as one of them sees it
stage               what windows and operations play on
preparing           before the first byte of load
drivers             what a worker is told of its client
told                what clients are told of their own options
worker_handles      the workers, as the harness sees them
resolving           late-bound words become hosts
aiming              a planned fault meets the cluster: whom it means now
windows             one fault window: armed, seen, undone, seen to be gone
struck              what the place that a fault strikes is to the queues
takeover            until when a fault may still change who holds a queue
operating           operations: carried out, and waited for
stopping            which hosts operations have taken down
afterwards          what brokers say after an operation
promoting           a mirror is made master, by an operator
rejoining           what a host that is back is to its queues, and holds
drain_and_audit     connections gone, queues drained, rivals read
auditor             starts once what did not come back by itself
record              the harness's own log of a run
clocks              whether the clocks of a run's processes can be believed
wall                the clock of the day
process_ends        brokers' processes that ended, and who had told them to
interrupts          that runs are to end early
signals             Ctrl-C, SIGTERM and SIGHUP
folder_lock         who is at work in an experiment's folder
view                what a person sees of a run while it goes on
progress            how far a run is
strip               the share on time, second by second
live_strip          that strip of a run that goes on
"""
