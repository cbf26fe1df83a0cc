"""Systems in containers, by Docker Compose.

deployment         makes a system stand: port.Deployment
cluster            a cluster that stands: port.Cluster
faults             puts executor and witness on it
process_ends       which processes end, by the engine's events
resources          what hosts use, second by second
stats              what the engine's statistics mean
execs              starts processes in a container
exec_stream        a conversation with one of them
sweep              removes everything of a cluster
tool               the compose tool that is there
subnets            private addresses that nothing else uses
container_state    which containers have ended, their last words, their addresses

render             a layout becomes a compose file
anchored           its YAML: what services share stands once, behind an anchor
compose_layouts    layouts for it, with what their systems declare
balancers          its balancers
confined           what its containers may do and use
peer_ways          ways between hosts that pass the proxy
worker_ways        how a worker is begun: ways to brokers that are known by name, real time
settings           what is known only when a deployment is made
"""
