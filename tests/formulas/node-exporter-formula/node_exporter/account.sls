{%- from 'node_exporter/map.jinja' import node with context %}
node_exporter-account:
  group.present: &account
    - name: {{ node.user.name }}
    - gid: {{ node.user.uid }}
    - system: true
  user.present:
    - name: {{ node.user.name }}
    - uid: {{ node.user.uid }}
    - gid: {{ node.user.uid }}
    - home: {{ node.paths.data }}
    - createhome: false
    - shell: {{ node.user.shell }}
    - require:
      - group: node_exporter-account
