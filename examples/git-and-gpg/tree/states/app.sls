{{ pillar.target }}/app.conf:
  file.managed:
    - makedirs: true
    - contents: |
        user = {{ pillar.database.user }}
        password = {{ pillar.database.password }}
