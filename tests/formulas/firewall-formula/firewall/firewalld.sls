{%- from 'firewall/map.jinja' import firewall with context %}
firewalld:
  pkg.installed: []
  service.running:
    - enable: True
    - require:
      - pkg: firewalld
{%- for zone, nets in firewall.zones.items() %}
firewalld-zone-{{ zone }}:
  firewalld.present:
    - name: {{ zone }}
    - sources:
{%-   for net in nets %}
      - {{ net | yaml_encode }}
{%-   endfor %}
    - ports:
{%-   for name, service in firewall.services.items() if zone in service.from %}
{%-     for port, protocol in service.ports | map('string') | map('replace', ':', '-') | list | product(service.protocols | default(['tcp'])) %}
      - {{ port }}/{{ protocol }}
{%-     endfor %}
{%-   endfor %}
    - prune_ports: {{ zone != 'self' }}
    - require:
      - service: firewalld
{%- endfor %}
{%- if salt['grains.get']('selinux:enabled', False) %}
firewalld-selinux:
  selinux.boolean:
    - names: [nis_enabled, {daemons_enable_cluster_mode: [value: true, persist: false]}]
    - value: off
    - persist: true
{%- endif %}
