{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ '/map.jinja' import docker with context %}
{%- set formula = tplroot %}

{{ formula }}-engine-keyring:
  file.directory:
    - name: /etc/apt/keyrings
    - onlyif: test -d /etc/apt

{%- if docker.pkg.use_upstream == 'repo' and docker.repo %}
{{ formula }}-engine-repo:
  pkgrepo.managed:
    {{ docker.repo | dict_to_sls_yaml_params | indent(4) }}
    - refresh: true
    - require:
      - file: {{ formula }}-engine-keyring
    - require_in:
      - pkg: {{ formula }}-engine-package
{%- endif %}

{{ formula }}-engine-package:
  pkg.installed:
    - name: {{ docker.pkg.name }}
    {%- with version = docker.pkg.version %}
    {%- if version %}
    - version: '*{{ version }}*'
    - allow_updates: {{ salt['slsutil.boolstr'](version is match('^\d+\.\d+$'), true='true', false='false') }}
    {%- endif %}
    {%- endwith %}
    - reload_modules: true

{{ formula }}-engine-daemon-config:
  file.serialize:
    - name: {{ docker.dir.config }}/daemon.json
    - dataset: {{ docker.daemon_config | tojson }}
    - serializer: json
    - serializer_opts: [indent: 2, sort_keys: true]
    - makedirs: true
    - merge_if_exists: {{ 'log-driver' not in docker.daemon_config }}

{{ formula }}-engine-users:
  group.present:
    - name: docker
    - system: true
    - addusers: {{ docker.users | sorted_ignorecase }}
    - require: [{pkg: {{ formula }}-engine-package}]

{{ formula }}-engine-service:
  service.running:
    - name: {{ docker.service }}
    - enable: true
    - listen:
      - file: {{ formula }}-engine-daemon-config
    - watch_any:
      - pkg: {{ formula }}-engine-package
      - file: {{ formula }}-engine-daemon-config
    - init_delay: 2
