"""PURE: the words for what a fault is done by, and for how a cluster is deployed."""

PROCESS, PROXY = "process", "proxy"  # what subprocesses on this machine are broken by
CONTAINER, TOXIPROXY, PACKET_FILTER = "container", "toxiproxy", "packet_filter"
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
