told:
  test.configurable_test_state:
    - changes: {{ pillar.get('told', False) }}
    - result: True
    - comment: {{ pillar.get('words', 'none') }}
