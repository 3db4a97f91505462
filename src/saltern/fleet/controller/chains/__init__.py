"""The controller's run of chains: decided by pure rules, written with orders, sent as jobs."""
