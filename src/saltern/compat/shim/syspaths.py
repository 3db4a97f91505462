"""``salt.syspaths``."""

from __future__ import annotations

ROOT_DIR = "/"
CONFIG_DIR = "/etc/salt"
CACHE_DIR = "/var/cache/saltern"
SOCK_DIR = "/var/run/saltern"
SRV_ROOT_DIR = "/srv"
BASE_FILE_ROOTS_DIR = "/srv/salt"
BASE_PILLAR_ROOTS_DIR = "/srv/pillar"
LOGS_DIR = "/var/log/saltern"
PIDFILE_DIR = "/var/run"
HOME_DIR = "~"
