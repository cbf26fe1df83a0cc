"""What a node does wrong when it is told to, and the truth about it.

kinds  what it may be told to do, and which messages it does it to
lines  one line of the truth: a message that was hit
truth  the log of a node: such a line for each, written before it is hit

It is done where it happens: to publishes in amqp/misbehaving.py, to confirms in
amqp/stale_guard.py, to what a master holds in mirrored/misbehaving.py, to what a broker of
RocketMQ is sent in rocketmq/broker/misbehaving.py.
"""
