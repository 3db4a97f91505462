"""Service managers: systemd, OpenRC and init scripts, behind one interface."""
