{# a job of a kind has ended on a system #}
{% if data['fun'] == 'test.echo' and data['return'].startswith('/') %}
mark_returned:
  local.cmd.run:
    - tgt: 'not {{ data['id'] }} and web*'
    - tgt_type: compound
    - arg:
      - echo after {{ data['id'] }} >> {{ data['return'] }}/returned
{% endif %}
