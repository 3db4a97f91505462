{%- from 'postgres/map.jinja' import postgres with context %}
postgresql-report:
  cmd.run:
    - name: psql --list
    - runas: {{ postgres.user }}
    - stateful: false
    - onchanges_any:
      - file: postgresql-conf
      - file: postgresql-hba
    - require:
      - sls: postgres.server
