"""A small client of RocketMQ's of our own, in Python: it runs wherever mqproof does.

It is like a version of the Java client in what decides how long sends fail when servers hang:
which name server it asks, what it does with a connection whose answer is overdue, and how often it
asks for the route. In all else it is small.

client        set up for one worker
name_servers  which name server the client uses
routing       the route of one topic, asked for again and again
brokers       connections to brokers
producer      sends
consumer      consumes
locks         of queues that are read in order
"""
