"""``status``: counters of the kernel, with Salt's names."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function

TIMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
LISTS = {"intr": "irqs", "softirq": "softirqs"}
DISK = (
    "major",
    "minor",
    "device",
    "reads_issued",
    "reads_merged",
    "sectors_read",
    "ms_spent_reading",
    "writes_completed",
    "writes_merged",
    "sectors_written",
    "ms_spent_writing",
    "io_in_progress",
    "ms_spent_in_io",
    "weighted_ms_spent_in_io",
)
CARD = (
    "iface",
    "rx_bytes",
    "rx_packets",
    "rx_errs",
    "rx_drop",
    "rx_fifo",
    "rx_frame",
    "rx_compressed",
    "rx_multicast",
    "tx_bytes",
    "tx_packets",
    "tx_errs",
    "tx_drop",
    "tx_fifo",
    "tx_colls",
    "tx_carrier",
    "tx_compressed",
)


def _rows(name: str) -> list[list[str]]:
    """The words of each line of a file below /proc; none if there is no such file."""
    try:
        with open(f"/proc/{name}", encoding="utf-8", errors="replace") as file:
            return [words for line in file if (words := line.replace(":", ": ").split())]
    except OSError:
        return []


def _number(text: str) -> object:
    return int(text) if text.lstrip("-").isdecimal() else text


@function
def cpustats(ctx: Context) -> dict[str, object]:
    """The time that the processors spent by kind of work, and the number of interrupts.

    Example:
        ```console
        $ saltern call status.cpustats
        ```
    """
    found: dict[str, object] = {}
    for name, *words in _rows("stat"):
        numbers = [int(word) for word in words]
        if name == "cpu":
            found[name] = dict(zip(TIMES, numbers, strict=False))
        elif name in LISTS:
            found[name] = {"total": numbers[0], LISTS[name]: numbers[1:]}
        else:
            found[name] = numbers[0]
    return found


@function
def cpuinfo(ctx: Context) -> dict[str, object]:
    """The kernel's data of the last processor; its ``flags`` are a list.

    Example:
        ```console
        $ saltern call status.cpuinfo
        ```
    """
    found: dict[str, object] = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            lines = [line.partition(":") for line in file]
    except OSError:
        return found
    for name, _, value in lines:
        if name.strip():
            found[name.strip()] = value.split() if name.strip() == "flags" else value.strip()
    return found


@function
def diskstats(ctx: Context) -> dict[str, object]:
    """The reads and writes of every disk.

    Example:
        ```console
        $ saltern call status.diskstats
        ```
    """
    rows = [words for words in _rows("diskstats") if len(words) >= len(DISK)]
    return {words[2]: dict(zip(DISK, map(_number, words), strict=False)) for words in rows}


@function
def vmstats(ctx: Context) -> dict[str, object]:
    """The kernel's counters of virtual memory.

    Example:
        ```console
        $ saltern call status.vmstats
        ```
    """
    return {words[0]: _number(words[1]) for words in _rows("vmstat") if len(words) > 1}


@function
def netstats(ctx: Context) -> dict[str, object]:
    """The kernel's counters of TCP and IP.

    Example:
        ```console
        $ saltern call status.netstats
        ```
    """
    rows = _rows("net/netstat")
    pairs = zip(rows[::2], rows[1::2], strict=False)  # a line of names, then one of numbers
    return {
        names[0].rstrip(":"): dict(zip(names[1:], map(_number, numbers[1:]), strict=False))
        for names, numbers in pairs
    }


@function
def netdev(ctx: Context) -> dict[str, object]:
    """The traffic of every network interface.

    Example:
        ```console
        $ saltern call status.netdev
        ```
    """
    rows = [[words[0].rstrip(":"), *words[1:]] for words in _rows("net/dev") if len(words) == len(CARD)]
    return {words[0]: dict(zip(CARD, map(_number, words), strict=True)) for words in rows}
