"""The world around a node: sockets, disk, time, operating system processes.

program     one node as an operating system process
node_command       its command
operator_commands  operators' commands to a node, running or down
play_commands      commands that start a small cluster to play with
play        a cluster of them on 127.0.0.1
playground  the folder that goes with what is played, however that ends
children    servers as children of a program that people play with
clients     connections of clients
links       links to peers
listening   what a server says that cannot listen
self_connections   connections that TCP made with themselves
management  the management API's HTTP
disk        a folder a queue, and what the cluster core wants to find again
segments    the entries of one queue
writing     files that are replaced as a whole
offline     what operators do to the disk of a node that is down
api_client  operators' requests to a running node, by its management API
memory      how much memory and disk the process has

Of RocketMQ:
rocketmq    a name server or a broker as an operating system process
rocketmq_commands  their commands
servers     their connections, and the time
log_files   a broker's files
sendable    whether clients can send to them
play_rocketmq  two groups and two name servers on 127.0.0.1
play_ctgmq     a group that its name servers switch
play_dledger   a group that elects its leader, and two name servers
"""
