{%- from 'node_exporter/map.jinja' import node with context %}
{%- set name = ['node_exporter', node.version ~ '.' ~ node.flavour ~ '-' ~ node.arch] | join('-') %}
include: [.account]

node_exporter-archive:
  archive.extracted:
    - name: /opt
    - source: {{ [node.archive, 'v' ~ node.version, name ~ '.tar.gz'] | join('/') }}
    - source_hash: {{ node.checksums[node.version] }}
    - enforce_ownership_on: /opt/{{ name }}
    - user: root
    - group: 0
    - use_etag: 1
    - creates: /opt/{{ name }}/node_exporter
  file.symlink:
    - name: {{ node.paths.bin | path_join('node_exporter') }}
    - target: /opt/{{ name }}/node_exporter
    - force: true
    - require: [archive: node_exporter-archive]
    - watch_in: [service: node_exporter-service]
