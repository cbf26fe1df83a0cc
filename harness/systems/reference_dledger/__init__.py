"""The reference of RocketMQ's DLedger groups, with the configuration of the real ones.

declaration  the system, and a group to play with; processes and image are those of reference_2m2s
layout       the shape of a layout file, and the configuration of each server
"""
