"""Campaigns: many experiments that fill a matrix over days, and the pages published of their runs.

cells         which scenario runs on which system and layout, why others mean nothing, and the
              matrix as Markdown: what each cell was judged to be
playing       one experiment after another until each cell was judged often enough
stored        every run of a folder as it was judged: of its experiments, and of its CSV files
article_page  what the articles claim, and the runs that show it
packed        packed experiments, judged again; their marts compared or written
run_marts     the marts of a packed experiment as a file
evidence      the list of raw packs: size, SHA-256, why a pack is kept; how packs are fetched
page_tables   tables of packed runs, also of those whose clients ask name servers
beside        two systems in the same cells
pages         published pages: tables and pictures, from packed runs or their marts
measured      what published runs showed and no expectation knows
layouts       cost against loss against outage of every layout that was played, as a page
"""
