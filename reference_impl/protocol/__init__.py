"""What processes of different packages say to each other: values, without anybody's rules.

queues        between channels and the copies of a queue, and what supervisors are asked for
connections   between management processes and connections

What only copies of a queue and supervisors say to each other is mirrored/messages.py's, what nodes
say of their tables metadata/messages.py's.
"""
