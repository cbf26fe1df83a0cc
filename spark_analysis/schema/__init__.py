"""What goes into an analysis, what comes out, and by which rules.

The definition and the engine both keep to it, and neither knows of the other.

What goes in:
tables      the raw tables of a run; words: what they are made of, log: how a worker writes them,
            body: who a message is
facts       what is to be known of a run beside them; sound: what facts rule out of each other
sealed      what a run's evidence was when it was sealed

What comes out, and the rules that fill it:
findings    the marts of a run together, and the words in which the rules are told
messages    counts, affected messages, charges
availability  seconds, silences, stages of recovery
service     availability as a history, scope by scope
doubts      what could not be judged, and why
costs       what a run cost in its calm
views       what name servers showed
comparison  what repeats of a cell say together
failed      why a run was not judged

How it is told: measures is the register of all classes and times (measure: the form of an entry;
measures_of_runs, measures_of_transactions, provenances: parts of it), declared holds JSON against
a declaration, arrow has the shapes of tables and marts.
"""
