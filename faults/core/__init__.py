"""PURE: faults as values, and the rules over them; everything else of faults builds on these.

kind           the traits that a kind declares
targets        the targets of faults
options        the options of faults in scenarios
mechanisms     the names of the mechanisms of faults
places         hosts, and processes of hosts, as text
shapes         the ways that each shape of a cut closes
peers          links between hosts that pass a proxy
actions        actions on a cluster, as values
model          faults and their observations, as data
witness        observation from outside: the ports of verification
alarms         the commands that raise and clear a system's alarms
compile        a fault for resolved places becomes actions with their undo
interference   what active faults hide from the verification of another one
isolation      which faults take their host away from all others
exclusive      what a fault has for itself while it is active
replies        replies: what they show, and their texts
commands       a user's own commands for hosts that are not ours
"""
