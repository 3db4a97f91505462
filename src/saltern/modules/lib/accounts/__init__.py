"""Users and groups: their records, and the tools that change them."""
