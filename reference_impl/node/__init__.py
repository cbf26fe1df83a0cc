"""One node of the reference, whole but for sockets, disk and time (which are shell's).

node             the node
config           what it is told at its start: one JSON file
outside          what it asks of the world around it

Its processes:
processes        those of one boot: handed events, and what they ask for is done
watches          who watches whom
handshake        how two nodes prove to each other that they know one cookie
wire             packets on a link between two nodes

Its cluster:
cluster          one boot as a member: boot, group, partitions, pauses
happenings       events and effects of it
group            the group as the node sees it: links, tables, who is up
membership       peers: who can be heard, and who has fallen silent
gossip           what the cluster cores of two nodes say to each other
known            who is of it as a node knows it, and whose links it keeps
boot             whether it founds a group, joins one, or waits
booting          what it has tried, whom it has asked, how long it still waits
offline          what it finds on its disk when it was told something while it was down
partial          partial partitions
handling         how it handles partitions: who pauses, who begins anew
minority         pause_minority, pause_if_all_down
autoheal         autoheal
alarms           who runs short of memory or disk
memory           how many messages queues may keep, where it is short

Its management API:
api              the process: what RabbitMQ's HTTP API answers, as far as it is here
api_connections  the answers about client connections
api_queues       the answers about queues
api_json         how it words what the tables say
questions        requests that wait for other processes' words
policies         what is taken as a policy
http             requests taken apart, and answers to them
"""
