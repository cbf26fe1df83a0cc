"""Brokers that are there already and are not ours.

deployment    starts what is ours around them: port.Deployment
cluster       a cluster that stands without us: port.Cluster
faults        puts executor and witness on it
site          what we have for it on a machine, as a value that outlives us
links         clients' ways where no proxy lies between
doctor        the topology file, held against the world
trust         how brokers' certificates are checked, as a value for our processes
certificates  what brokers show over TLS, held against the file before anything begins
removal       removes what is ours on and around it
"""
