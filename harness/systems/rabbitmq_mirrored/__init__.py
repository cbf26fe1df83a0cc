"""RabbitMQ with mirrored classic queues.

declaration    the system
layouts        a layout file, and the layout that it becomes
guarantees     what mirrored queues guarantee by a layout
policies       what a layout's policies say, held against what it promises
topology_file  a topology file, and the layout that it becomes
foreign        a cluster that somebody else runs
"""
