"""Changes of a history, and what they may do to its verdicts, whatever the history is.

1. Less evidence makes a verdict INCONCLUSIVE at most, or NOT APPLICABLE.
2. What means the same leaves every verdict as it is.
3. More that is healthy refutes nothing, and excuses nothing.
4. One more harm keeps the claim that it breaks from passing.

relation  a change, and which verdicts may follow which
weaker    facts that are unknown, and logs that end early
same      other clocks, names and orders, and records that say nothing new
healthy   more traffic, queues and publishers, all healthy; an unverified fault later
harm      one more loss, copy, outage, or wait
"""
