{%- from 'firewall/map.jinja' import firewall with context %}
{%- set backends = ['nftables', 'firewalld', 'iptables'] %}
include:
{%- if firewall.backend in backends %}
  - firewall.{{ firewall.backend }}
{%- else %}
  - firewall.unknown
{%- endif %}
{%- if firewall.sysctl is defined and grains.kernel == 'Linux' %}
  - firewall.kernel
{%- endif %}
