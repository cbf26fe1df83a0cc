"""The reference of RocketMQ's DLedger groups, with the configuration of the real ones.

declaration  the system and its layout files, and a group to play with; the rest: reference_2m2s
"""
