"""Workers under test, and what they meet.

rig              workers in this process against a tiny broker, or as processes of their own
hired            a worker that was started on a real cluster, and only answers pings
loghand          a client that holds messages back, without Java and without a broker
rocketmq_worlds  workers with RocketMQ's clients, against real servers
"""
