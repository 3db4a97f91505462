"""``selinux``."""
