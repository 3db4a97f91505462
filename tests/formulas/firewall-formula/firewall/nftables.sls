{%- from 'firewall/map.jinja' import firewall with context %}
{%- load_yaml as rules %}
{%-   for name, service in firewall.services.items() %}
{{ name }}:
{%-     for four, nets in firewall.zones.items() if four in service.from %}
{%-       for protocol, ports in [service.protocols | default(['tcp'])] | product([service.ports]) %}
  - {protocols: {{ protocol }}, ports: {{ ports | json }}, nets: {{ nets }}}
{%-       endfor %}
{%-     endfor %}
{%-   endfor %}
{%- endload %}
nftables:
  pkg: [installed]
  service:
    - running
    - enable: true
    - watch: [file: /etc/nftables.conf]
/etc/nftables.conf:
  file.managed:
    - mode: '0755'
    - contents: |
        #!/usr/sbin/nft -f
        flush ruleset
        table inet filter {
        {%- for chain, policy in firewall.policy | dictsort %}
          chain {{ chain }} { type filter hook {{ chain }} priority 0; policy {{ policy }};
        {%-   if chain == 'input' %}
        {%-     for name, some in (rules or {}).items() %}
        {%-       for rule in some %}
            # {{ name }}: {{ rule.protocols | join(',') }} {{ rule.ports | join(',') or 'any' }} from {{ rule.nets | join(', ') }}
        {%-       endfor %}
        {%-     endfor %}
        {%-   endif %}
          }
        {%- endfor %}
        }
    - check_cmd: nft -c -f
    - require: [pkg: nftables]
