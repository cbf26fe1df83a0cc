"""The reference of CTGMQ: pairs of brokers whose master name servers replace.

declaration  the system; processes and image are those of reference_2m2s
layout       a layout file, how a former master cuts its log, and the configuration of each server
foreground   a group to play with
"""
