{%- import 'node_exporter/map.jinja' as map with context %}
{%- if grains.init | default('') == 'systemd' %}
node_exporter-reload:
  module.run:
    - service.systemctl_reload: []
    - onchanges:
      - file: node_exporter-unit
    - require_in: [service: node_exporter-service]
{%- endif %}

node_exporter-service:
  service.running:
    - name: node_exporter
    - enable: true
    - require:
      - file: node_exporter-unit
      - user: {{ map.node.user.name }}
  cmd.run:
    - name: "curl --fail --silent http://localhost{{ map.node.args['web.listen-address'] | default(':9100') }}/metrics"
    - hide_output: true
    - onfail: [{service: node_exporter-service}]
