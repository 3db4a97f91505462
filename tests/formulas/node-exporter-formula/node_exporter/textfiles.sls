#!jinja|yaml
# -*- coding: utf-8 -*-
{%- import 'node_exporter/map.jinja' as map with context %}
{%- for name, content in map.node.textfiles.items() %}
node_exporter-textfile-{{ name }}:
  file.managed:
    - name: {{ map.node.paths.data }}/{{ name }}
    - contents: {{ content | yaml_encode }}
    - makedirs: true
{%- else %}
{}
{%- endfor %}
