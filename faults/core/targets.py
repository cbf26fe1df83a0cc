"""What a fault kind applies to."""

HOST, CLIENT_LINK = "host", "client link"  # a client link: of the meant clients to that host
PEER_LINK = "peer link"  # of that host to its peers, and back
CLIENT = "client"  # the process of a publisher or consumer
