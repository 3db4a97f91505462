settle:
  time.sleep:
    - duration: 1

write it down:
  data.write:
    - file_name: {{ params.get('target') }}/network.json
    - parameters: {name: shop, machines: 2}
    - require:
      - time: settle
