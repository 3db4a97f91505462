{%- from 'node_exporter/map.jinja' import node, flags with context %}
{%- set web = {'basic_auth_users': node.web.users} if node.web.users else {} %}
{%- if node.web.tls %}
{%-   do web.update({'tls_server_config': {'cert_file': 'server.crt', 'key_file': 'server.key'}}) %}
{%- endif %}
node_exporter-config:
  file.serialize:
    - name: {{ node.paths.config }}/web.yml
    - dataset: {{ web | json }}
    - formatter: yaml
    - mode: '0640'
    - show_changes: false
    - makedirs: true

node_exporter-unit:
  file.managed:
{%- if node.flavour == 'linux' %}
    - name: /etc/systemd/system/node_exporter.service
    - contents: |
        [Service]
        User={{ node.user.name }}
        ExecStart={{ node.paths.bin }}/node_exporter \
        {%- for flag in flags %}
          {{ flag }}{{ '' if loop.last else ' \\' }}
        {%- endfor %}
{%- else %}
    - name: /usr/local/etc/rc.d/node_exporter
    - mode: 755
    - source: salt://{{ tpldir }}/files/rc.sh
    - template: jinja
    - context:
        flags: {{ flags | join(' ') | yaml_encode }}
{%- endif %}
    - listen_in:
      - service: node_exporter-service
