"""Action chains: ordered actions, cut at reboots and updates into chunks, run on one machine and resumed."""
