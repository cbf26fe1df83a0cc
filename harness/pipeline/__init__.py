"""plan -> deploy -> run -> analyse -> report, as the command line asks for it.

port         what is asked, and how: RunOptions, Pipeline
stages       run, analyse, heal, build, doctor: each one call
performing   an experiment carried out, guarded from first to last; runs judged early
stored       the report over what is stored
histories    files of anybody's histories, read and judged
unjudged     the report where nothing was judged
"""
