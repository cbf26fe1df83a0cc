"""Apache RocketMQ with DLedger: groups of brokers whose log is a Raft log, and who elect a leader.

declaration  the system
layouts      a layout file, and the layout that it becomes (harness/systems/rocketmq/layout.py)
guarantees   what a group guarantees by a layout
servers      what they are on hosts: roles move
settings     what each server is told: its group, its peers
members      who leads, by the members' own word
parts        servers in containers that stand
"""
