"""Injected misbehaviour of a node, and the log of it.

kinds  the kinds of misbehaviour, and the choice of messages
lines  one line of the log: a message that was hit
truth  the log of a node: a line for each message, written before it is hit

It is done where it happens: to publishes in amqp/parts/misbehaving.py, to confirms in
amqp/parts/misbehaving.py, to what a master holds in mirrored/misbehaving.py, to what a broker of
RocketMQ is sent in rocketmq/broker/misbehaving.py.
"""
