"""The claims engine: what somebody promised, asked of what is known of one run.

A claim asks for facts by their names. Evidence answers with what is known of each, a judge makes a
verdict of the answers. No system and no layout has a name here.

What is claimed:
claims      sentence, source, precondition and predicate, read from claims.toml
articles    where claims come from, and what stands in claims.toml beside them
vocabulary  every fact that a claim may speak of: name, type, meaning

What is known:
values      what is known of one fact: a value, an interval, unknown or moot
state       declared and recorded facts of a run
evidence    every fact of one run: who is asked for it
counted     counts: how many, and how many more there may be
terms       counts that only some messages can have: delayed ones, those of transactions
recovery    how a fault was got over: stages, the longest silence, what was missed
serving     service, consumption and starvation of one run, and which doubt comes first
served      whether all was served and consumed in a window: from rows of the marts
calm        outages and silences while nothing is broken
waiting     what waited when a fault came, and what became of it
derived     facts that follow from others
times       how long a fault lasted and is judged, a stage's time in words
doubts      what could not be judged, in words, and what it stands against

What is judged:
judge       PASS, FAIL, INCONCLUSIVE or NOT APPLICABLE, and why
unplanned   windows that nobody can judge: a process ended that no plan had ended
stories     one message's story, or one window's, for a FAIL
"""
