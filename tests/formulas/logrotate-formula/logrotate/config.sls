{% from "logrotate/map.jinja" import logrotate with context %}
logrotate:
  pkg.installed:
    - name: {{ logrotate.pkg }}
logrotate-config:
  file.managed:
    - name: {{ logrotate.conf_file }}
    - user: root
    - group: {{ logrotate.root_group }}
    - mode: "0644"
    - contents: |
{%- for word, value in logrotate.default_config | dictsort if value is not sameas false %}
        {{ word }}{{ '' if value is sameas true else ' ' ~ value }}
{%- endfor %}
        include {{ logrotate.include_dir }}
    - require:
      - pkg: logrotate
{% if salt['match.ifelse']('G@virtual:kvm', True, 'G@roles:web', True, False) %}
logrotate-service:
  service.running:
    - name: {{ logrotate.service }}
    - enable: true
    - watch_any:
      - file: logrotate-config
      - pkg: logrotate
{% endif %}
