"""The tables of a cluster, equal on every node: no clock, no chance.

tables       the whole: nodes, exchanges, bindings, queues, policies, groups
patterns     regular expressions of policies, with a limit of steps
governing    the policy that governs a queue, and its settings

commands     every command on the tables
exchanges    those on exchanges and bindings, and the form of a command
records      those on queues and their groups: holders, takeovers
nodes        those on the cluster's nodes: admitted, forgotten

replication  one leader orders commands, all members carry them out
messages     the messages between members for that
ledger       one member's tables, membership and recent log
requests     commands that this node's processes wait for
"""
