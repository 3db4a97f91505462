"""The other side of a barrier, a reboot or another build: left for, waited for, proven, or given up."""
