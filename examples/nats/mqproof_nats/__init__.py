"""NATS JetStream as a system of mqproof, and nats-py as its client.

The plan's side, which mqproof reads:
declaration         the system: what it guarantees, and which modules run it
client_declaration  the client: what it can, and why not
layouts             the shape of a layout file, and the layout that it becomes
names               PURE: streams, subjects, ports and logins
configuration       PURE: a server's configuration file
claims              what NATS's documentation says, in its words
cluster_state       PURE: what the servers' monitoring reports, as roles and reasons

A running cluster:
broker              queries and commands of a run
processes           servers as subprocesses; `server` becomes one
containers          servers in containers: the image, and what runs of it
parts               the adapters of such servers
service_ports       PURE: how faults on a server are verified

Imported by a worker or the agent alone:
agent_calls         requests to a server
canaries            connections of mqproof's own on clients' links
client              the adapter of nats-py
"""
