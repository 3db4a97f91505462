"""Users and groups: looking at them, and the tools that change them."""
