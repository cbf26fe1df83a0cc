"""The commands of the command line, a module each; cli.py puts them together.

shell      what every command has at hand: consoles, the pipeline, options that several take
places     where experiments lie: folders, and URLs
spark      where Spark is to run, as words of commands that judge
bounds     what a command line may be
run, demo, analyse, compare, pack, judge      experiments, runs and histories
by_hand    up, status, fault, down
machine    heal, doctor, build
choices    list
serve      the results folder for browsers
new        a file to start from
reference  a reference cluster to play with
finish     from a report to files and words, with the code that was decided
crash      where the traceback of a fault of ours goes
"""
