"""Package managers for ``pkg``, ``pkgrepo`` and ``lowpkg``: apt, dnf, zypper, apk and pacman.

``choose.manager(ctx)`` is the one of this machine. All of them use the types of ``model``.
"""
