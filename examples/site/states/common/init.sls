motd:
  file.managed:
    - name: {{ pillar['target'] }}/motd
    - contents: |
        This is {{ grains['id'] }}.
        {{ pillar['owner'] }} looks after it.
    - makedirs: true
