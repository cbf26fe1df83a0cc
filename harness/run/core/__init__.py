"""PURE: what a run decides; the modules above carry it out.

barrier             which of the runs that are played together arrived where
clocks              whether the clocks of a run's processes can be trusted
conductor           the order of a run: the next step, given what happened
conductor_protocol  the messages between the two
progress            how far a run is, and what it waits for while nothing is planned
resolved_target     the role of a fault's target for the queues, and until when that may change
resolving           late-bound words become hosts
run_queues          the queues of a run, and how a message comes to each consumer group
stopping            the hosts that operations have stopped
strip               the share on time, second by second
view                what a person sees of a run while it goes on
window_state        the state of a fault window: its target, its armed fault, its facts
"""
