"""Clusters that `mqproof up` started and keeps, attached for a run.

deployment     attaches to one, and gives it back: port.Deployment
subprocesses   a cluster of subprocesses that another process keeps
in_containers  a cluster in containers that another process keeps
"""
