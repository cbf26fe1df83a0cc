"""PURE: a layout becomes a compose file, and what the engine's statistics mean.

render        a layout becomes a compose file
anchored      its YAML: what services share stands once, behind an anchor
balancers     its balancers
confined      what its containers may do and use
peer_ways     ways between hosts that pass the proxy
worker_ways   how a worker is begun: ways to brokers that are known by name, real time
settings      what is known only when a deployment is made
stats         what the engine's statistics mean
"""
