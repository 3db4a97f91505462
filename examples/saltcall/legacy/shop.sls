{{ pillar.target }}/sign:
  file.managed:
    - contents: {{ 'open' if pillar.open else 'closed' }}

ring the bell:
  cmd.run:
    - name: echo ding
    - onchanges:
      - file: {{ pillar.target }}/sign

hire a cook:
  test.fail_without_changes: []

cook:
  test.nop:
    - require:
      - test: hire a cook
