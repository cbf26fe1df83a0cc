"""Apache RocketMQ with DLedger: groups of brokers whose log is a Raft log, and who elect a leader.

declaration  the system
layouts      a layout file, and the layout that it becomes (harness/systems/rocketmq/layout.py)
guarantees   what a group guarantees by a layout
servers      what they are on hosts: roles move
settings     the configuration of each server: its group, its peers
members      the leaders, as members report them
parts        running servers in containers
"""
