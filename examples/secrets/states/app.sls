{{ pillar.target }}/app.conf:
  file.managed:
    - makedirs: true
    - contents: |
        user = {{ pillar.database.user_unencrypted }}
        password = {{ pillar.database.password }}
        port = {{ pillar.port_unencrypted }}
        token = {{ pillar.api_token }}
