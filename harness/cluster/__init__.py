"""What a cluster that stands is to everybody else: its ports, and what they all speak with.

Whoever makes clusters (harness.deploy), knows a broker's words (harness.systems) or runs
experiments (harness.run) meets the others here. Nothing here knows Docker or a broker.

port        what a deployment offers to the run: Cluster, Broker, Channel, Deployment
orders      what an operator tells the brokers, as values, and the port that carries it out
roster      the clients that were started on a cluster
agent       calls to the agent that stands beside the brokers
links       listeners of the proxy, one for each worker and host
polling     looking again and again until something holds
log_tails   the end of a broker's log, as much as a run keeps
"""
