"""Service managers: systemd, OpenRC and init scripts, behind the few methods a state needs."""
