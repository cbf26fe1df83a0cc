"""DLedger: the log of a group of brokers, and the election of its leader
(docs/behaviour/rocketmq-elections.md 1).

member    one member: its connections, its election, its log; entries that wait for a majority
election  candidates, followers, leaders: the ballot on a disk, votes and heartbeats
pushing   a leader's pushes to one follower: compare, truncate, append, commit
taking    what a follower does with them
ledger    the log on a disk
message_log  the same as the log of a broker's messages
entries   one entry of it
links     connections to the other members
messages  what members send each other
rules     rules that can be switched off
settings  one member's settings
"""
