"""Runs of chains on the controller: decided by pure rules, stored with their orders, sent as jobs."""
