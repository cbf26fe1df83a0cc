"""Brokers that are there already and are not ours.

deployment   starts what is ours around them: port.Deployment
cluster      a cluster that stands without us: port.Cluster
faults       puts executor and witness on it
site         what we have for it on a machine, as a value that outlives us
links        clients' ways where no proxy lies between
looks        what it says of itself, held against its topology file
rights       whether our user may do what it will have to
doctor       the topology file, held against the world
removal      removes what is ours on and around it
"""
