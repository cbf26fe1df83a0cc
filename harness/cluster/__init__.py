"""The ports of a running cluster, and the values that its users share.

Code that makes clusters (harness.deploy), knows a broker's protocol (harness.systems) or runs
experiments (harness.run) meets here. Nothing here knows Docker or a broker.

port             what a deployment offers to the run: Cluster, Broker, Channel, Deployment
orders           an operator's orders to brokers, as values, and the port that carries them out
started_clients  the clients that were started on a cluster
agent            calls to the agent that stands beside the brokers
links            listeners of the proxy, one for each worker and host
polling          looking again and again until something holds
log_tails        the end of a broker's log, as much as a run keeps
"""
