"""Apache RocketMQ 5 with controllers: they say which of a group's brokers is its master.

declaration  the system
layout       what only its layouts have: the rules of its replication
layouts      a layout file, and the layout that it becomes
guarantees   what a group guarantees by a layout
servers      what they are on hosts: roles move
settings     the configuration of each server: its controllers, its rules
controllers  who leads, by the controllers' word
parts        running servers in containers
"""
