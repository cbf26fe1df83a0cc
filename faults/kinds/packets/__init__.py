"""Faults of the packets that a host sends, by netem in the network namespace of its containers.

`packet_loss`, `packet_delay`   the kinds
`sampling`   echo requests between hosts, from before the fault to after it
`rules`      what proves that packets are lost or late, and no longer
"""
