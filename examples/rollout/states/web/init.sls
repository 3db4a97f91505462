{{ pillar.get('target', '/srv/shop') }}/web.conf:
  file.managed:
    - contents: database = {{ pillar.get('database', 'unknown') }}
    - makedirs: True
