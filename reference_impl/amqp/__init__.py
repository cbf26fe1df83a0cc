"""AMQP 0-9-1 between a node and its clients (docs/behaviour/rabbitmq.md section 2): octets in,
octets out.

The codec:
wire             octets of elementary types and field tables, both ways
frames           type, channel, size, payload, end octet
method           a method: a value whose annotations define its encoding
methods          methods from octets and back, by the two tables below
session_methods  the methods about connections and channels
queue_methods    the methods about exchanges, queues and messages
content          messages with content, by hand: the hot path
properties       the properties of a message that matter to a broker

A client's connection:
connection       the process, its heartbeats, and what it deletes before its last word
opening          how it is opened, step by step
handshake        the offers, and a client's possible answers
blocking         when its client is not read from
channels         its channels, by number

A channel:
channel          the process; the following are its parts
assembly         its frames, put together to commands
handlers         methods, and the parts that carry them out
calls            requests that it waits for
naming           names of queues and consumers as it understands them
publishing       the publishes of its client
consuming        its consumers, and their deliveries
acknowledging    its client's acknowledgements, rejects and recovers
declaring        queues: declare, delete, purge, bind, unbind
exchanging       exchanges: declare, delete, bind, unbind
transacting      transactions: what waits for a commit
dead_letters     of a node: where queues' dead letters go
misbehaving      the bugs that are injected into publishes and confirms

Rules without effects:
routing          from an exchange and a key or headers to queues and processes that get a copy
confirms         which publishes are settled, and how
sharing          how far a channel may run ahead of queues, and what its consumers share
unacknowledged   deliveries that the client has not acknowledged yet
arguments        which arguments are known, and when two sets are equal
features         the features: present, announced, absent
errors           codes, names and texts of the protocol's errors

Shared by both processes:
settings         the offers of a broker's tune, and its timeouts
session          a connection as its channels know it, and their outbox
"""
