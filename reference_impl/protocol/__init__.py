"""What processes of different packages say to each other: values, without anybody's rules.

queues        between channels and the copies of a queue, and what supervisors are asked for
handshake     how two peers prove to each other that they know one secret
connections   between management processes and connections

What only copies of a queue and supervisors say to each other is mirrored/messages.py's, what nodes
say of their tables metadata/messages.py's.
"""
