"""Many machines: controllers and agents that talk over a message bus. No single-machine command
imports this.
"""
