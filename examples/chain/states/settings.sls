{{ pillar['target'] }}/app.conf:
  file.managed:
    - contents: port = 8080
    - makedirs: true
