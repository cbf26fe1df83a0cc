"""Brokers whose behaviour is known. Nothing is here yet: the first one is the mirrored queue."""
