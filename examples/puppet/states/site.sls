shop:
  puppet.apply:
    - name: salt://manifests/site.pp
    - facts:
        target: {{ pillar['target'] }}
    - confdir: {{ pillar['target'] }}/conf
    - vardir: {{ pillar['target'] }}/var

shop-noted:
  file.append:
    - name: {{ pillar['target'] }}/notes
    - text: the manifest changed something
    - onchanges:
      - puppet: shop
