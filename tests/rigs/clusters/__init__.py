"""What stands in for a cluster that is under test.

simulated_cluster  port.Cluster in memory, with switches for trouble and scripts for workers
fault_world        hosts and links that faults can be done to; its own executor and witness
link_world         clients' links in memory: what proxies do to them, what canaries meet
local              stand-in nodes of the `local` deployment: real processes, no broker
external           a reference cluster that no deployment started, and its owner's commands
external_rocketmq  the same, of RocketMQ's reference
topologies         topology files of three brokers
certificates       an authority, and certificates that it signs
tls_front          a TLS listener before a port that speaks none
balancer           one address before several ports, as a load balancer has
shards             brokers of a family that only tests know, as somebody else runs them

The simulated cluster stays a rig, and out of the product: its workers pretend, so that what it
records proves nothing of any broker. A dry run needs no cluster, and `demo` plays the reference.
"""
