"""The reference of RocketMQ's masters and slaves, with the configuration of the real ones.

declaration  the system: its image, and two groups to play with
layout       the shape of a layout file, and the configuration of each server
processes    the same servers as subprocesses of this machine, and their operator
"""
