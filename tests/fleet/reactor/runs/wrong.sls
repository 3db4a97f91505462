{# the first cannot be rendered on purpose where the event lacks a name #}
mark_wrong:
  local.cmd.run:
    - tgt: web1
    - arg:
      - echo {{ data['lacking']['name'] }} >> {{ data['place'] }}/wrong
