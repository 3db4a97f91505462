"""The vocabulary every other package speaks: types and tables, no behaviour. Imports nothing of ours."""
