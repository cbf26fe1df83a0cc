"""Campaigns: many experiments that fill a matrix over days, and the pages published of their runs.

cells         which scenario runs on which system and layout, and why others mean nothing
playing       one experiment after another until each cell was judged often enough
runs          a run as it was judged, how it stands against what is known, and as a row of CSV
stored        every run of a folder: of its experiments, and of its CSV files
cell_table    the matrix as Markdown: what each cell was judged to be
article_page  what the articles claim, and the runs that show it
packed        packed experiments, judged again
run_marts     the marts of a packed experiment as a file
evidence      the list of raw packs: size, SHA-256, why a pack is kept
fetch         raw packs from a folder, an address or git history
judging_again  raw packs judged again, their marts compared or written
page_tables   tables of packed runs
incident_tables  those of runs whose clients ask name servers
beside        two systems in the same cells
table_parts   what these tables have in common
pages         published pages, whose tables are made from packed runs or their marts
pictures      pictures of published pages: runs that were played together
measured      what published runs showed and no expectation knows
layouts       cost against loss against outage of every layout that was played, as a page
markdown      text in fields of Markdown tables
"""
