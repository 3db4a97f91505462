{%- set tplroot = tpldir.split('/')[0] %}
{%- set sls_service_clean = tplroot ~ '.service.clean' %}
{%- from tplroot ~ '/map.jinja' import nginx with context %}

include:
  - {{ sls_service_clean }}

nginx-config-clean-file-absent:
  file.absent:
    - names:
      - {{ nginx.config.file }}
      {%- for server in nginx.servers.managed | sort %}
      - {{ nginx.servers.available }}/{{ server }}
      - {{ nginx.servers.enabled }}/{{ server }}
      {%- endfor %}
    - require:
      - sls: {{ sls_service_clean }}
