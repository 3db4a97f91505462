include:
  - common

vhosts:
  file.managed:
    - name: {{ pillar['target'] }}/vhosts
    - contents:
      {%- for host in pillar['vhosts'] %}
      - {{ host }}
      {%- endfor %}
    - require:
      - sls: common
