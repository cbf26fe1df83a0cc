"""RocketMQ 4.9: name servers and brokers that unmodified clients cannot tell from real ones
(docs/behaviour/rocketmq.md 1 to 6).

Each layer knows only those below it (a contract in pyproject.toml); none touches a socket, a disk
or a clock: shell/rocketmq.py does.

simulator      cores in virtual time, from one seed
broker         a broker: topics, sending, pulling, groups, offsets, copies, orders of an operator
naming         a name server: registered brokers, and the brokers of each topic
ctgmq          masters and slaves that name servers replace by an election of their own
dledger        the log of a group of brokers, and the election of its leader
registration   the body of a broker's registration at a name server
store          the commit log and the consume queues, octet for octet as the real ones
remoting       the protocol: commands, answers, the connections of a server
configuration  configuration files, as the real ones read them
settings       the settings, timers under their real names
effects        the effects of a server on the world around it
"""
