"""SELinux as its own tools know it: mode, booleans, policy modules, file contexts and ports."""
