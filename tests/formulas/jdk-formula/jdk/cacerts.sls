{%- from tpldir ~ '/map.jinja' import jdk with context %}
{%- for name, source in jdk.cacerts.items() %}
jdk-cacerts-{{ name }}:
  file.managed:
    - name: {{ jdk.dirs.base }}/{{ name }}.pem
    - source: {{ source }}
    - skip_verify: {{ source.startswith('salt://') | yaml }}
  cmd.wait:
    - name: {{ jdk.home }}/bin/keytool -importcert -noprompt -cacerts -alias {{ name | quote }} -file {{ jdk.dirs.base }}/{{ name }}.pem
    - watch: [{file: jdk-cacerts-{{ name }}}]
    - require: [archive: jdk-archive, file: jdk-archive]
{%- endfor %}
