"""The family of Apache RocketMQ: name servers, and brokers in groups.

What its systems share; who leads a group is each one's own (leading.py).

declaration    the parts that all declarations share
containers     servers in containers: the images and their jars
distribution   the same, of a vendor's own build
client_python  builds rocketmq-client-python 2.0.0 with its shim
parts          running servers in containers: their adapters
broker         the Broker port: what servers report
leading        who leads a group: what a system answers
no_operator    for layouts that need no operator
core/          what is pure: layouts, configurations, the meaning of answers
foreign/       clusters that somebody else runs
api            questions to servers through the agent
links          listeners of the proxy where brokers are known by name
"""
