"""The controller: takes jobs from people, sends them, stores what comes back, and keeps the fleet's state."""
