mark:
  cmd.run:
    - name: echo {{ pillar['what'] }} >> {{ pillar['place'] }}/{{ grains['id'] }}
