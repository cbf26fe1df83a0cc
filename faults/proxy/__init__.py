"""The embedded proxy: a program (`python -m faults.proxy`) that speaks Toxiproxy's HTTP interface
and behaves like it on sockets, so that faults on links need nothing but Python.

- `core/`: what passes, the rules over proxies and toxics, and the interface; pure.
- `link`, `listener`, `server`: sockets, HTTP (by h11) and time. `__main__`: the program.

What it must do is what the real server, 2.12.0, was seen to do: tests/contract holds both against
the same record, except for the words of Go's libraries in errors. Where it differs it does so on
purpose; what the left column says was seen, or read in its source.

| the real server | the embedded one |
| --- | --- |
| reports the version 2.12.0 | reports 2.12.0-embedded: a run's record must say which it was |
| can crash when a bandwidth that holds bytes gets another rate | releases them |
| crashes at the first byte when a rate is below 0 | takes it for 0 |
| crashes when a slicer has no size, or varies by more | cuts nothing, or inside the chunk |
| can take 5 s to remove a bandwidth 0 whose client has gone | takes no time |
| lets the removal of a reset that has begun wait for it | brings it forward |
| draws a toxicity between 0 and 1 again when a neighbour comes | only on the toxic's own update |
| has no seed for what is drawn | `--seed`: the same for the same connections in the same order |
| refuses a wrong attribute, but keeps those beside it | keeps nothing of what it refuses |
| reads fields in any case, broken UTF-8 and what follows a body's JSON | refuses or ignores them |
| looks up names of services as ports | takes a port as a number |
| redirects `//version` to `/version` | has no such path |
| gives every answer a request id and a date | does not |
| forgets, of two latencies in a row, part of the second in a burst | adds them up |
| dials one client's upstream after the other | dials side by side, and stops on request |
| accepts no connection any more once descriptors were short | accepts when there are some again |
| reads any body | refuses one above 16 MiB, with 413 |
| closes a connection whose request takes 15 s | answers 408 before it does |
| has a config file, and metrics on demand | has neither: /metrics is 404, as by default |
"""
