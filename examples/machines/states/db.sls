{{ pillar['database']['directory'] }}:
  file.directory:
    - makedirs: true
