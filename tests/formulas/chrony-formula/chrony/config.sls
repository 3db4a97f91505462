{%- from './map.jinja' import chrony with context %}
{%- macro word(option) -%}
{{ option if option is string else (option.items() | first) | join(' ') }}
{%- endmacro %}
include:
  - .package

chrony-config:
  file.managed:
    - name: {{ chrony.config }}
    - contents: |
        {%- for kind, hosts in chrony.servers.items() %}
        {%-   for host in hosts %}
        {{ kind }} {{ host }}{% for option in chrony.options %} {{ word(option) }}{% endfor %}
        {%-   endfor %}
        {%- endfor %}
        driftfile {{ chrony.driftfile }}
        makestep {{ chrony.makestep.threshold | default(1) }} {{ chrony.makestep.limit }}
        {%- for net in chrony.allow %}
        allow {{ net }}{{ '  # six' if net | is_ipv6 else '' }}
        {%- endfor %}
        {%- if chrony.rtcsync %}
        rtcsync
        {%- endif %}
        {%- if chrony.maxchange is defined %}
        maxchange {{ chrony.maxchange.values() | join(' ') }}
        {%- endif %}
    - mode: 644
    - require:
      - pkg: chrony-package

chrony-keys:
  file.exists:
    - name: {{ chrony.keyfile }}
    - require: [pkg: chrony-package]
{%- if chrony.get('sourcedir') %}

chrony-sourcedir:
  file.directory:
    - name: {{ chrony.sourcedir }}
    - onchanges_in:
      - cmd: chrony-reload-sources

chrony-reload-sources:
  cmd.run:
    - name: chronyc reload sources
    - onlyif: test -S /run/chrony/chronyd.sock
{%- endif %}
