"""AMQP 0-9-1 between a node and its clients (docs/behaviour/rabbitmq.md section 2): octets in,
octets out.

The codec: wire (elementary types), frames, method and methods (by the tables session_methods and
queue_methods), content (messages, by hand: the hot path).

connection, a client's connection, is a process; its parts are opening, handshake, heartbeat,
channels, farewell. channel is a process; its parts are assembly, handlers, calls, naming,
publishing, consuming, acknowledging, declaring, exchanging.

Rules without effects: routing, topics, confirms, sharing, unacknowledged, arguments, errors.
What both processes know: settings, session.
"""
