{%- from 'firewall/map.jinja' import firewall with context %}
{%- set ns = namespace(position=1) %}
{%- for name, service in firewall.services | dictsort %}
{%-   for zone in service.from %}
{%-     for net in firewall.zones[zone] if net | is_ip or '/' in net %}
{%-       set family = 'ipv6' if ':' in net else 'ipv4' %}
{%-       for protocol in service.protocols | default(['tcp']) %}
iptables-{{ name }}-{{ zone }}-{{ loop.index }}-{{ net | md5 | truncate(8, true, '') }}:
  iptables.insert:
    - position: {{ ns.position }}
    - table: filter
    - chain: INPUT
    - family: {{ family }}
    - source: {{ net }}
    - proto: {{ protocol }}
    - jump: ACCEPT
    {%- if service.ports %}
    - match: multiport
    - dports: [{{ service.ports | join(', ') }}]
    {%- endif %}
    - save: true
{%-         set ns.position = ns.position + 1 %}
{%-       endfor %}
{%-     endfor %}
{%-   endfor %}
{%- endfor %}
{%- for chain, policy in firewall.policy.items() %}
iptables-policy-{{ chain }}:
  iptables.set_policy:
    - chain: {{ chain | upper }}
    - policy: {{ policy | upper }}
    - order: last
{%- endfor %}
