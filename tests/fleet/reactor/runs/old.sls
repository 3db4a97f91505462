mark_old:
  cmd.state.sls:
    - tgt: {{ data['hosts'] | join(',') }}
    - tgt_type: list
    - arg:
      - mark
    - kwarg:
        pillar:
          place: {{ data['place'] }}
          what: old
