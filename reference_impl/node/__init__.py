"""One node of the reference, without sockets, disk and time (which are shell's).

node             the node
config           its configuration: one JSON file
outside          the ports to the world around it

Its processes:
processes        those of one boot: they get events, effects are carried out; their watches
handshake        the mutual proof of two nodes that they know one cookie
wire             packets on a link between two nodes

Its cluster:
cluster          one boot as a member: boot, group, partitions, pauses
happenings       its events and effects
group            the group as the node sees it: links, tables, members that are up
membership       peers: those that can be heard, and the silent ones
gossip           messages between the cluster cores of two nodes
known            its members as a node knows them, and the links it keeps
boot             whether it founds a group, joins one, or waits
booting          the state of its attempts to join, and its timeouts
offline          changes that an operator made to its disk while it was down
partial          partial partitions
handling         its handling of partitions: pauses, and new boots
minority         pause_minority, pause_if_all_down
autoheal         autoheal
alarms           nodes that run short of memory or disk, and what queues may keep then

Its management API:
api              the process: the supported part of RabbitMQ's HTTP API
api_connections  the answers about client connections
api_queues       the answers about queues
api_json         its JSON of the tables
questions        requests that wait for other processes' answers
policies         the validation of policies
http             parsed requests, and answers to them
"""
