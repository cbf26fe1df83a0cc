"""What a node does wrong when it is told to, and the truth about it.

kinds  what it may be told to do, and which messages it does it to
truth  the log: a line for each message that was hit, written before it is hit

It is done where it happens: to publishes in amqp/misbehaving.py, to confirms in
amqp/stale_guard.py, to what a master holds in mirrored/misbehaving.py.
"""
