"""Apache RocketMQ in groups of a master and its slaves.

declaration  the system
layouts      a layout file, and the layout that it becomes (harness/systems/rocketmq/layout.py)
guarantees   what masters and slaves guarantee by a layout
"""
