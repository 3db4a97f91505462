"""Stop 9a. What the runtime calls: the module API, and the built-in states and functions.

Takes a chunk from ``runtime`` and gives a ``Result`` back.
"""
