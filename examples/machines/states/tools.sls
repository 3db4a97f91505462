curl:
  pkg.installed: []
