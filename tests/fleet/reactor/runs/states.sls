{# states on those who are named #}
mark_states:
  local.state.apply:
    - tgt: 'web*'
    - args:
      - mods: mark
      - pillar:
          place: {{ data['place'] }}
          what: {{ tag }}
