"""A virtual machine in a fleet: its agent, which every boot starts, has a controller on the host."""

from __future__ import annotations

import re
from pathlib import Path

from tests.vm.disk import AGENT_DIRECTORY, make_disk, make_start
from tests.vm.machine import VirtualMachine

NETWORK = ("-netdev", "user,id=net,ipv6=off", "-device", "virtio-net-pci,netdev=net,romfile=")


class Guest(VirtualMachine):
    """``HOST`` is the address of the host's loopback, in the network that qemu emulates."""

    HOST = "10.0.2.2"

    def __init__(self, place: Path, token: str) -> None:
        disk = make_disk(place, {"root/token": token}, with_agent=True)
        super().__init__(disk, make_start(place), network=NETWORK)

    def join(self, name: str) -> None:
        """Join the fleet as a system of this name, and start the agent."""
        self.up()
        self.run(f"saltern agent join - --directory {AGENT_DIRECTORY} --id {name} < /root/token")
        self.run("/etc/init.d/saltern-agent start")

    def boots(self) -> list[str]:
        """The boots so far, as the console has shown them."""
        return re.findall(r"guest is up in boot (\S+)", self.said)

    def read(self, file: str) -> list[str]:
        """The lines of a file."""
        said = self.run(f"echo; echo begin; cat {file}")
        return said.split("\nbegin\n")[1].split("\ncode=")[0].splitlines()
