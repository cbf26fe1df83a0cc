"""A cluster of RabbitMQ's, or of what is spoken to like it, that somebody else runs.

looks    what it says of itself, held against its topology file
rights   whether our user may do what it will have to
"""
