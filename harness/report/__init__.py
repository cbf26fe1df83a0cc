"""What was planned, done and judged, told: on terminals, on pages, to machines. It only tells.

failing            whose sends failed, as a table for pages and terminals
display            where the pipeline says what it does: steps, and live views of a run
lines, tried       verdicts, what runs of a cell come to, and why claims could not be judged
console/           on a terminal: while it goes on, and at the end
page/, charts/     the values of report.html, and its drawings; templates/ holds its words
html               report.html, out of them
verdict, junit     the same for machines
judged             a history of anybody's, and other tools' verdicts beside ours
serving            every experiment of a results folder, for browsers, on loopback
versus_page        two experiments against each other
dry_run, listing   what would be done, and what there is to choose from
markdown           tables as Markdown
"""
