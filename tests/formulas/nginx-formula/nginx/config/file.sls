{%- set tplroot = tpldir.split('/')[0] %}
{%- set sls_package_install = tplroot ~ '.package.install' %}
{%- from tplroot ~ '/map.jinja' import nginx with context %}
{%- from tplroot ~ '/libtofs.jinja' import files_switch with context %}

include:
  - {{ sls_package_install }}

nginx-config-file-managed:
  file.managed:
    - name: {{ nginx.config.file }}
    - source:
      {{- files_switch(['nginx.conf.jinja'], lookup='nginx-config-managed') }}
    - mode: '0644'
    - user: root
    - group: {{ nginx.rootgroup }}
    - makedirs: true
    - template: jinja
    - context:
        config: {{ nginx.config | json }}
        gzip: {{ nginx.config.gzip | to_bool }}
    {%- if nginx.validate %}
    - check_cmd: nginx -t -c
    {%- endif %}
    - require:
      - sls: {{ sls_package_install }}
