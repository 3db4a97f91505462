{{ pillar['target'] }}/main.tf:
  file.managed:
    - source: salt://main.tf

shop:
  terraform.apply:
    - directory: {{ pillar['target'] }}
    - vars:
        word: {{ pillar.get('word', 'welcome') }}
        password: secret
    - require:
      - file: {{ pillar['target'] }}/main.tf
