"""A cluster of RabbitMQ's, or of what is spoken to like it, that somebody else runs.

file     the shape of a topology file, whatever the queues
from_compose  a first topology file, from a Compose file
brokers  asked, held against its file, and rid of what was ours
door     where clients come in
rights   whether our user may do what it will have to
core/    what is pure: what its file says, held against what it says of itself
"""
