"""AMQP 0-9-1 between a node and its clients (docs/behaviour/rabbitmq.md section 2): octets in,
octets out.

The codec:
wire             octets of elementary types and field tables, both ways
frames           type, channel, size, payload, end octet
method           what a method is: a value whose annotations say how it is written
methods          methods from octets and back, by the two tables below
session_methods  the methods about connections and channels
queue_methods    the methods about exchanges, queues and messages
content          messages with content, by hand: the hot path
properties       what of a message's properties matters to a broker

A client's connection:
connection       the process, of which the next five are parts
opening          how it is opened, step by step
handshake        what is offered, and what a client may answer
heartbeat        heartbeats, both ways
blocking         when its client is not read from
channels         its channels, by number
farewell         its exclusive queues are deleted before its last word

A channel:
channel          the process, of which the following are parts
assembly         its frames, put together to commands
handlers         which part carries out which method
calls            requests that it waits for
naming           names of queues and consumers as it understands them
publishing       what it does with what its client publishes
consuming        its consumers, and what comes for them
acknowledging    what its client acknowledges, rejects and wants back
declaring        queues: declare, delete, purge, bind, unbind
exchanging       exchanges: declare, delete, bind, unbind
transacting      transactions: what waits for a commit
dead_letters     of a node: where queues' dead letters go
misbehaving      the bugs that are injected into publishes
stale_guard      the one that is injected into confirms

Rules without effects:
routing          from an exchange and a key to queues and the processes that get a copy
topics           topic keys against patterns
header_bindings  arguments of bindings against headers
confirms         which publishes are settled, and how
flow             how far a channel may run ahead of queues
sharing          the limit that the consumers of one channel share
unacknowledged   deliveries that the client has not acknowledged yet
arguments        which arguments are known, and when two sets are equal
features         what is there, what is announced, and what is not there
errors           codes, names and texts of the protocol's errors

What both processes know:
settings         what a broker offers in its tune, and how long it waits
session          what the channels know of their connection, and how they speak
"""
