"""CTGMQ: masters and slaves that name servers replace by an election of their own
(docs/behaviour/rocketmq-ctgmq.md). Its source is closed; this is what its article claims, and
where that is silent what RocketMQ 5's controllers do.

control   a control node: who is alive, who is master
groups    what control nodes agree on, by the Raft of `dledger`
requests  what replicas ask of them, and what they answer
replica   a replica: master or slave, its lease, its connections
master    what a master does: its slaves, the SyncStateSet, what counts as sent
slave     what a slave does: its log becomes its master's
message_log  a replica's log as that of a broker's messages
node      a control node with its Raft member, in a name server
wire      what both say to each other
kept      what a replica keeps beside its log
rules     rules that can be switched off
settings  settings of replicas and control nodes
"""
