"""Runs beside each other: what verdicts and times of several say together.

rates         how often a promise was broken, and what so few runs cannot exclude
medians       medians of times, their intervals, and whether two differ
versus        two experiments, cell by cell
loads         what load they played, and in what it differs
longer        whether recent runs take longer than a baseline's, asked every night
gate          whether tonight is worse than a baseline: what alarms, and what cannot
frontier      layouts by cost, loss and outage: which ones are dominated
compared      layouts beside each other, as an article claims
expectations  what cells are known to do (expectations.toml), for regression
bounded       which runs are still wanted, where a campaign goes on until a bound is reached
"""
