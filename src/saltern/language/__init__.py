"""The types and tables that all other packages use; no behaviour. Imports no other package of saltern."""
