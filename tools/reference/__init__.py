"""The pages of docs/reference, made from the tables in the code."""
