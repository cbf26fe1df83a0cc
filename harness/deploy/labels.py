"""The labels by which everything that mqproof made is found again; nothing is found by a name.

1. Containers, networks and volumes carry them; Compose adds the project and the service.
2. `owner` says which process must be gone before somebody else may clean up; `keep` forbids it.
"""

PROJECT = "com.docker.compose.project"  # set by both compose tools
SERVICE = "com.docker.compose.service"  # likewise
ROLE = "mqproof.role"
HOST = "mqproof.host"
EXPERIMENT = "mqproof.experiment"
OWNER = "mqproof.owner"
KEEP = "mqproof.keep"
USER = "mqproof.user"  # uid:gid that workers run as
CLUSTER = "mqproof.cluster"  # the project, on what Compose did not make: helpers

ROLE_HOST = "host"
ROLE_PROCESS = "process"
ROLE_PROXY = "proxy"
ROLE_ADDRESSES = "addresses"
ROLE_AGENT = "agent"
ROLE_WORKERS = "workers"
