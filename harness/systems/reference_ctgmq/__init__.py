"""The reference of CTGMQ: pairs of brokers whose master name servers replace.

declaration  the system
layout       what only its layouts have: how a former master cuts its log
layouts      the shape of a layout file
settings     the configuration of each server
processes    the servers as subprocesses of this machine; containers are those of reference-2m2s
foreground   a group to play with
"""
