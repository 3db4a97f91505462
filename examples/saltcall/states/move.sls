the old tree:
  saltcall.apply:
    - sls: shop
    - file_roots: {base: [{{ pillar.here }}/legacy]}
    - pillar: {target: {{ pillar.here }}/out, open: True}

{{ pillar.here }}/out/noted:
  file.managed:
    - contents: nobody cooks
    - onfail:
      - saltcall: the old tree
