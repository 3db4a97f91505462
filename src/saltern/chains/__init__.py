"""Action chains: ordered actions, cut at reboots and updates into segments, run and resumed."""
