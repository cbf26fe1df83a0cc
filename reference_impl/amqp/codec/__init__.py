"""Octets of AMQP 0-9-1 from values, and back.

content          messages with content, by hand: the hot path
frames           type, channel, size, payload, end octet
method           a method: a value whose annotations define its encoding
methods          methods from octets and back, by the two tables below
properties       the properties of a message that matter to a broker
queue_methods    the methods about exchanges, queues and messages
session_methods  the methods about connections and channels
wire             octets of elementary types and field tables, both ways
"""
