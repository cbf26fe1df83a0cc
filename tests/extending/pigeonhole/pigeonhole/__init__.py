"""Pigeonhole: a small durable queue server, and what mqproof has to know to test it.

The product, which knows nothing of mqproof:
__main__   starts a node: python -m pigeonhole CONFIG.json [--with-parent]
node       one node: who is connected, what is asked, who else runs
holes      queues: what they hold, whom it is given to
journal    a queue's file on disk
lines      the protocol: one JSON object a line

What the package offers to mqproof, by the entry points of its pyproject.toml:
system     the system (mqproof.systems); files/ has its system.toml and its layouts
broker     what a run asks of the nodes, and what it tells them
offered    the client's declaration (mqproof.clients)
client     the client itself, imported by workers alone
stall      a fault kind that only it has (mqproof.faults)
manual     what its manual says, as claims (mqproof.claims); they use facts that only it has
"""

VERSION = "0.1"
