"""RabbitMQ with mirrored classic queues.

declaration  the system
layouts      a layout file, the layout that it becomes, and what that guarantees
policies     what a layout's policies say, held against what it promises
foreign      a cluster that somebody else runs: its topology file, and its layout
"""
