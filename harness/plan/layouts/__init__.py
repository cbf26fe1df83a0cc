"""What a layout and its servers are, as values: hosts, versions, ports, guarantees.

guarantees        what a system's brokers guarantee by a layout
jars              sets of jars, by the clients and the servers that are in them
layout_values     the parts of a layout: hosts, policies, and endpoints of clients
published         the ports of a cluster by hand, at loopback addresses
role_words        what users of a system call the replica that serves clients, and the others
servers           what a system's servers are on a layout's hosts
topology          a cluster that somebody else runs: its brokers, and what may be done to them
variants          a layout in the versions and images that a user wants
versions          versions of brokers, as people name them and as brokers report them
worker_addresses  how many addresses workers take, where brokers are known by name
"""
