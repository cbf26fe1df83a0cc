"""What stands in for RocketMQ's servers.

in_memory        a cluster that is a few tables: what servers would answer, without a socket
fake_server      one name server or broker that gives scripted answers over a socket
needs            what real servers and clients need here; who lacks it skips, or fails in CI
launcher         the one launcher of servers as plain processes: Java, or the reference
clusters         a pair and a five of them
mqadmin          the real tool, as a process
systems          what each system of RocketMQ has of its own
layouts          the servers of a layout, told what containers would be told
local_cluster    such a layout as a run needs it: port.Cluster, without proxy or containers
stored_messages  messages as a broker stores them, and a queue of them that answers pulls
sending          messages handed to a real broker without a client library
reference        servers of the reference in this process
name_server_log  what a name server's own log says, held against a run's looks
"""
