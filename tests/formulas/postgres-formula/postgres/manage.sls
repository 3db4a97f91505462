{%- from 'postgres/map.jinja' import postgres with context %}
{%- from 'postgres/macros.jinja' import format_state with context %}
{%- set login = {'db_user': postgres.user, 'db_port': postgres.port} %}

{%- for name, tablespace in postgres.tablespaces.items() %}
{{ format_state(name, 'postgres_tablespace', dict(tablespace, **login)) }}
    - require:
      - file: postgres_tablespace-dir-{{ name }}
      - service: postgresql-running
postgres_tablespace-dir-{{ name }}:
  file.directory:
    - name: {{ tablespace.directory }}
    - user: {{ postgres.user }}
    - makedirs: true
{%- endfor %}

{%- for name, user in postgres.users.items() %}
{%-   set ensure = user.pop('ensure', 'present') %}
{%-   call format_state(name, 'postgres_user', dict(user, **login), ensure) %}
    - require:
      - service: postgresql-running
{%-   endcall %}
{%- endfor %}

{%- for name, database in postgres.databases.items() %}
{%-   set extensions = database.pop('extensions', {}) %}
{{ format_state(name, 'postgres_database', dict(database, **login)) }}
    - require:
      - service: postgresql-running
      {%- if database.owner is defined %}
      - postgres_user: postgres_user-{{ database.owner }}
      {%- endif %}
{%-   for extension, settings in extensions.items() %}
{%-     call format_state(name ~ '-' ~ extension, 'postgres_extension', dict(settings, maintenance_db=name, **login)) %}
    - require:
      - postgres_database: postgres_database-{{ name }}
{%-     endcall %}
{%-   endfor %}
{%- endfor %}
