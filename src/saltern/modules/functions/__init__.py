"""The execution functions saltern ships: what ``salt['mod.fun']`` may name, one module for each."""
