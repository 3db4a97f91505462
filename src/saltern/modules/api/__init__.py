"""The module API: how a state or a function is declared, found, checked and called, and what it may use."""
