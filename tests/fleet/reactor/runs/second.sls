mark_second:
  local.cmd.run:
    - tgt: {{ data['hosts'][0] }}
    - args:
      - cmd: echo second >> {{ data['place'] }}/second
      - python_shell: true
