"""A module of a package beside mqproof that ends whoever reads it."""

raise SystemExit(3)
