"""PURE: the words for what a fault is done by, and for how a cluster is deployed."""

PROCESS, PROXY = "process", "proxy"  # what subprocesses on this machine are broken by
CONTAINER, TOXIPROXY, PACKET_FILTER = "container", "toxiproxy", "packet_filter"
NETEM = "netem"  # of the Linux kernel, on the interfaces of a host: by the next module
NETEM_MODULE = "sch_netem"
COMMAND = "command"  # a user's own, for hosts that are not ours
COMPOSE, LOCAL, EXTERNAL = "compose", "local", "external"
DIRECT = "direct"  # how a layout's peer links are made: so, or by TOXIPROXY

# By what a deployment does what happens to processes, to clients, to their links, and to packets.
TO_PROCESSES = {COMPOSE: CONTAINER, LOCAL: PROCESS, EXTERNAL: COMMAND}
TO_CLIENTS = {COMPOSE: CONTAINER, LOCAL: PROCESS, EXTERNAL: PROCESS}
TO_CLIENT_LINKS = {COMPOSE: TOXIPROXY, LOCAL: PROXY, EXTERNAL: PROXY}
TO_NETWORK = {COMPOSE: PACKET_FILTER, LOCAL: PROXY}
# A host's network as a whole, where its owner's commands can change it.
TO_NETWORK_OF_HOST = {**TO_NETWORK, EXTERNAL: COMMAND}
TO_PEER_LINKS = {COMPOSE: TOXIPROXY}
NO_NETWORK = {
    EXTERNAL: "mqproof drops no packets between hosts that it did not make, and links between "
    "brokers pass no proxy of mqproof"
}
# The interfaces of a host, in a network namespace that mqproof made.
TO_INTERFACES = {COMPOSE: NETEM}
NO_INTERFACES = {
    LOCAL: "netem acts on the interfaces of a network namespace; subprocesses have none of their "
    "own",
    EXTERNAL: "mqproof changes no interfaces of hosts that it did not make",
}
