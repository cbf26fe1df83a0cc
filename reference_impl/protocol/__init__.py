"""Messages between processes of different packages: values, without rules.

queues        between channels and the copies of a queue, and requests to supervisors
handshake     the mutual proof of two peers that they know one secret
connections   between management processes and connections

Messages only between copies of a queue and supervisors are mirrored/messages.py's, those of nodes
about their tables metadata/messages.py's.
"""
