"""A cluster of RabbitMQ's, or of what is spoken to like it, that somebody else runs.

file     the shape of a topology file, whatever the queues
arguments  those that queues may have, and why not others
from_compose  a first topology file, from a Compose file
own      what its topology file says that only this family understands
brokers  asked, held against its file, and rid of what was ours
door     where clients come in
looks    what it says of itself, held against its file
rights   whether our user may do what it will have to
"""
