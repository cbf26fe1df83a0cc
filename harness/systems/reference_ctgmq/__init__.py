"""The reference of CTGMQ: pairs of brokers whose master name servers replace.

declaration  the system; processes and image are those of reference_2m2s
layout       what only its layouts have: how a former master cuts its log
layouts      the shape of a layout file
settings     the configuration of each server
foreground   a group to play with
"""
