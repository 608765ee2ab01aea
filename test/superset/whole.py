"""A hook of superset.sh: what operators set who want whole results. By default an
answer of SQL Lab has 10,000 rows at most."""

DISPLAY_MAX_ROW = 100_000
