{%- set tplroot = tpldir.split('/')[0] %}
{%- set sls_config_file = tplroot ~ '.config.file' %}
{%- from tplroot ~ '/map.jinja' import nginx with context %}

include:
  - {{ sls_config_file }}

nginx-service-running:
  service.running:
    - name: {{ nginx.service.name }}
    - enable: {{ nginx.service.enable }}
    - reload: {{ nginx.service.reload }}
    - watch:
      - sls: {{ sls_config_file }}
    {%- if grains.kernel == 'Linux' %}
    - onlyif: command -v systemctl || test -x /etc/init.d/{{ nginx.service.name }}
    {%- endif %}
