"""Rules without effects: routing, confirms, limits, errors.

arguments       which arguments are known, and when two sets are equal
confirms        which publishes are settled, and how
errors          codes, names and texts of the protocol's errors
features        the features: present, announced, absent
routing         from an exchange and a key or headers to queues and processes that get a copy
sharing         how far a channel may run ahead of queues, and what its consumers share
unacknowledged  deliveries that the client has not acknowledged yet
"""
