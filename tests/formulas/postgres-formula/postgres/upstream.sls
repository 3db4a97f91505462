{%- from 'postgres/map.jinja' import postgres with context %}
{%- from 'postgres/macros.jinja' import format_kwargs with context %}
postgresql-repo:
  {%- if postgres.use_upstream_repo %}
  pkgrepo.managed:
    {{- format_kwargs(postgres.repo) }}
  {%- else %}
  pkgrepo.absent:
    - name: {{ postgres | traverse('repo:name', 'none') }}
  {%- endif %}
