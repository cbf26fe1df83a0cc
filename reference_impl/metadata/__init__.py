"""What every node of a cluster knows, and how it stays equal on all of them: no clock, no chance.

tables       the whole: nodes, exchanges, bindings, queues, policies, groups
governing    which policy governs a queue, and what it asks for

commands     every command on the tables
exchanges    those on exchanges and bindings, and what a command is
records      those on queues and their groups: who holds a queue, who takes over
nodes        those on the cluster's nodes: who is admitted, who is forgotten
policies     those on policies

replication  one leader orders commands, all members carry them out
messages     what members say to each other for that
ledger       what one member holds: tables, who is a member, and the recent log
requests     commands that this node's processes wait for
"""
