shop:
  pyinfra.deploy:
    - name: salt://deploy.py
    - data: {target: {{ pillar.target }}, greeting: open}

{{ pillar.target }}/noted:
  file.managed:
    - contents: the deploy changed something
    - onchanges:
      - pyinfra: shop
