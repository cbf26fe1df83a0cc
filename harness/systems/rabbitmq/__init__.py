"""The family of RabbitMQ: systems with its protocol and its management API.

declaration    the parts that all declarations share, and how queues are read empty
broker         the Broker port: the management API and one declare
api            the management API, on every host
api_operator   orders over the API: policies, synchronisation
held           how much of a queue a node holds itself
containers     its nodes in containers: images and configuration
parts          its running nodes in containers: their adapters
operator       carries orders out in containers: the API and the command line
core/          what is pure: layouts, kinds of queues, commands, the meaning of answers
foreign/       an external cluster
"""
