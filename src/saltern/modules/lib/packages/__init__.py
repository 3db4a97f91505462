"""Package managers: what ``pkg``, ``pkgrepo`` and ``lowpkg`` need of apt, dnf, zypper, apk and pacman.

``choose.manager(ctx)`` is the one of this machine. All of them speak in the words of ``model``.
"""
