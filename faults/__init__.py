"""Faults: what there is, how each is done and undone, and how it is seen from outside.

kinds/         the kinds, a module each, and those of other packages
executors/     who carries actions out on a deployment, and who looks there
proxy/         the embedded proxy, which speaks Toxiproxy's interface

kind           what a kind has to say of itself
targets        what a fault may be aimed at
options        what a scenario may say of a fault
mechanisms     the words for what a fault is done by
places         hosts, and processes of hosts, as text
shapes         which ways a cut closes
peers          links between hosts that pass a proxy
actions        what can be done to the world, as values
model          faults as data, and what is seen of them
witness        what can be seen from outside: the ports of verification
alarms         how a system's brokers are brought into alarm, and out of it
compile        a fault for resolved places becomes actions with their undo
exclusive      what a fault has for itself while it stands
recorded       actions as JSON, for the journal
performing     carries actions out, with one receipt
rhythm         plays a fault that comes and goes
verification   asks a witness until a kind's rules are satisfied
asking         questions with deadlines, asked again
replies        what a reply shows
commands       a user's own commands for hosts that are not ours
toxiproxy      a Toxiproxy server, driven over HTTP
"""
