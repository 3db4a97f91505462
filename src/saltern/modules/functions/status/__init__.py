"""``status``: load, memory, processes and counters of this machine.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "all_status": "together",
    "cpuinfo": "counters",
    "cpustats": "counters",
    "custom": "together",
    "diskstats": "counters",
    "diskusage": "together",
    "loadavg": "machine",
    "meminfo": "machine",
    "netdev": "counters",
    "netstats": "counters",
    "nproc": "machine",
    "pid": "processes",
    "procs": "processes",
    "time": "machine",
    "uptime": "machine",
    "version": "machine",
    "vmstats": "counters",
    "w": "processes",
}
