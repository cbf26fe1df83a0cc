"""PURE: the books of a worker. Times are handed in, in nanoseconds of one clock.

pacing      when publishes are intended, which are due, and which were missed
publishes   one publisher's publishes: what is out, what became of it, what is to be retried
seconds     the share of a publisher's load that was on time, second by second
lateness    how late the worker's own clockwork runs
"""
