"""A module of a package beside mqproof that ends the process that imports it."""

raise SystemExit(3)
