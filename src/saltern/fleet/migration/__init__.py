"""From the configuration of a Salt master and its minion to that of a controller and its agents."""
