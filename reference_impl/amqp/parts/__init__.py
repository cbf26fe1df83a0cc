"""The parts of a channel: publishes, consumers, acknowledgements, declarations.

acknowledging  its client's acknowledgements, rejects and recovers
assembly       its frames, put together to commands
calls          requests that it waits for
consuming      its consumers, and their deliveries
dead_letters   of a node: where queues' dead letters go
declaring      queues: declare, delete, purge, bind, unbind
exchanging     exchanges: declare, delete, bind, unbind
handlers       methods, and the parts that carry them out
misbehaving    the bugs that are injected into publishes and confirms
naming         names of queues and consumers as it understands them
publishing     the publishes of its client
transacting    transactions: what waits for a commit
"""
