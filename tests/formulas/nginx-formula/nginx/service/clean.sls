{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ '/map.jinja' import nginx with context %}

nginx-service-clean-dead:
  service.dead:
    - name: {{ nginx.service.name }}
    - enable: false
    - onlyif:
      - fun: service.available
        name: {{ nginx.service.name }}
