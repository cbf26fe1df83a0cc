"""Whether a plan means anything on a layout: the reasons why not.

applicability    whether a scenario means anything on a layout
demands          what a workload demands of queues that not every broker has
held_secrets     whether a topology file holds what its variables are there to hide
majorities       faults that together leave no majority of nodes
named_hosts      hosts that a scenario names, and that no layout has: probably misspelt
operable         whether a scenario's operations mean anything on a layout
overlaps         windows whose lengths contradict each other, or leave nothing to be seen
permission       the faults that a topology allows on a cluster that mqproof did not start
process_targets  faults of one process of a host that carries several
"""
