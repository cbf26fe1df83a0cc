"""Apache RocketMQ in groups of a master and its slaves.

declaration  the system
layouts      a layout file, and the layout that it becomes (harness/systems/rocketmq/layout.py)
guarantees   what masters and slaves guarantee by a layout
servers      what they are on hosts: who is master is fixed
settings     the configuration of each server: its role
fixed_roles  who leads: as it is configured
operator     makes a slave its group's master, in containers
parts        servers in containers that stand
"""
