"""Systems in containers, by Docker Compose.

deployment         makes a system stand: port.Deployment
cluster            a cluster that stands: port.Cluster
faults             puts executor and witness on it
process_ends       which processes end, by the engine's events
resources          what hosts use, second by second
execs              starts processes in a container
exec_stream        a conversation with one of them
sweep              removes everything of a cluster
tool               the compose tool that is there
subnets            private addresses that nothing else uses
container_state    which containers have ended, their last words, their addresses

core/              a layout becomes a compose file; what the engine's statistics mean
compose_layouts    layouts for it, with what their systems declare
"""
