{%- from 'postgres/map.jinja' import postgres with context %}
{%- set includes = [] %}
{%- if postgres.repo is defined %}{% do includes.append('postgres.upstream') %}{% endif %}

{%- if includes %}
include: {{ includes }}
{%- endif %}

postgresql-server:
  pkg.installed:
    - pkgs:
      - {{ postgres.pkg }}
      - {{ postgres.client }}
      {%- for extra in postgres.extra %}
      - {{ extra }}
      {%- endfor %}
    {%- if postgres.fromrepo %}
    - fromrepo: {{ postgres.fromrepo }}
    {%- endif %}
    {%- if postgres.use_upstream_repo %}
    - refresh: true
    - require:
      - pkgrepo: postgresql-repo
    {%- endif %}

postgresql-cluster-prepared:
  file.directory:
    - name: {{ postgres.data }}
    - user: {{ postgres.user }}
    - group: {{ postgres.group }}
    - makedirs: True
    - dir_mode: 0700
    - require: [{pkg: postgresql-server}]
  cmd.run:
    - name: {{ postgres.bin }}/{{ postgres.prepare.command }} {{ postgres.data }}
    - runas: {{ postgres.user }}
    - env: [LC_ALL: C.UTF-8]
    - unless:
      - test -f {{ postgres.data }}/{{ postgres.prepare.check }}
      - {fun: file.file_exists, path: {{ postgres.conf }}/postgresql.conf}
    - require: [{file: postgresql-cluster-prepared}]
    - watch_in:
      - service: postgresql-running

postgresql-conf:
  file.blockreplace:
    - name: {{ postgres.conf }}/postgresql.conf
    - marker_start: '# begin of managed settings'
    - marker_end: '# end of managed settings'
    - append_if_not_found: true
    - content: |
        listen_addresses = '{{ postgres.listen | join(',') }}'
        port = {{ postgres.port }}
        {%- for key, value in postgres.settings | dictsort if value is not none %}
        {{ key }} = {{ ('on' if value else 'off') if value is boolean else "'" ~ value ~ "'" }}
        {%- endfor %}
    - watch_in:
      - service: postgresql-running

postgresql-hba:
  file.managed:
    - name: {{ postgres.conf }}/pg_hba.conf
    - user: {{ postgres.user }}
    - mode: 600
    - contents: {{ salt['slsutil.renderer'](string="""#!jinja|yaml
lines:
{%- for acl in acls %}
  - '{{ '%-8s%-16s%-16s%-24s%s' | format(acl[0], acl[1], acl[2], acl[3], acl[4] | default('scram-sha-256')) }}'
{%- endfor %}
""", acls=postgres.acls).lines | json }}
    - watch_in:
      - service: postgresql-running

postgresql-running:
  service.running:
    - name: {{ postgres.service }}
    - enable: true
    - reload: true
    - require: [pkg: postgresql-server]
