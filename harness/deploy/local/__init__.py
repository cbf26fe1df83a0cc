"""Systems as subprocesses on this machine: no root, no Docker.

deployment     makes a system stand: port.Deployment
cluster        a cluster that stands: port.Cluster; which of its nodes end
faults         puts executor and witness on it
site           what it is, as a value that outlives the harness
nodes          its nodes and its proxy, as our children
channel        a conversation with a subprocess
usage          what its processes use, second by second
removal        ends its processes and removes its data
"""
