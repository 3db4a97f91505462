{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ '/map.jinja' import docker with context %}
include: [.engine]
{%- for entry in docker.networks | to_entries | sort(attribute='key') %}
{%-   set network = entry.value %}
{{ tpldot }}-network-{{ entry.key }}:
  docker_network.present:
    - name: {{ entry.key }}
    - driver: {{ network.driver | default('bridge') }}
    {%- if network.subnet is defined %}
    - ipam_pools:
      - subnet: {{ network.subnet }}
        gateway: {{ network.subnet.rsplit('.', 1)[0] }}.1
    {%- endif %}
    - internal: {{ network.get('internal', False) }}
    - require: [service: {{ tpldot }}-engine-service]
{%- endfor %}
