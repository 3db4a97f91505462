{{ pillar.get('target', '/srv/shop') }}/db.conf:
  file.managed:
    - contents: port = 5432
    - makedirs: True
