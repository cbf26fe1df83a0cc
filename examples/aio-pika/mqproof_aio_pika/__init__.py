"""aio-pika as a client of mqproof.

declaration  what mqproof reads: the plan's side, never imported by a worker
client       what a worker imports: the adapter of the library
"""
