"""Makes systems stand, or finds them standing: three deployments, and what they share.

compose/       containers, by Docker Compose
local/         subprocesses on this machine
external/      brokers that are there already

__main__       prints a compose file
doctor         what this machine has of what mqproof needs
engine         the Docker engine: how it is reached
images         the images that a deployment needs
pull           pulling an image within a deadline
jars           the jars of RocketMQ's clients and servers
java_tools     where Maven and Java run
labels         how everything that mqproof made is found again
lifeless       whether a silent place holds no broker any more
owner          which process made something
"""
