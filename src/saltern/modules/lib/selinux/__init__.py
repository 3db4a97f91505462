"""SELinux, through its own tools: mode, booleans, policy modules, file contexts and ports."""
