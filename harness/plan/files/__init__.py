"""What people write: TOML files, read to values or to every problem in them.

fault_options     a fault's options in a scenario, as its kind declares them
fault_table       a fault of a scenario: its keys, and checks of several of them
operation_table   an operation of a scenario, likewise
references        targets that refer to another fault (`host of fault 1`)
scenario_tables   a scenario's document by its shape: its tables, or what is wrong with each
shape             the shape of a scenario file: tables, keys, types, limits and defaults
shape_words       what is wrong with a value in a file, in the words of people who write files
spans             lengths of time: `10 s`, `250 ms`, `1.5 T, at least 15 s`
suite             a suite: an experiment that brings its system, layouts and clients
tables            the parts of the shapes of scenario files
targets           the words by which a scenario means hosts, processes and clients: one grammar
toml              TOML text to a Scenario that can be run, or to every problem in it
toml_lines        where a key stands in a TOML text: a line number for error messages
toml_problems     what is wrong in a TOML document, before its place in the text is known
topology_shape    the parts that topology files of all systems share
topology_toml     TOML text to a Topology that can be used, or to every problem in it
"""
