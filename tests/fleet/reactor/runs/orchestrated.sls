{% if data['wanted'] %}
orchestrated:
  runner.state.orchestrate:
    - args:
      - mods: orch.marks
      - pillar:
          place: {{ data['place'] }}
          event: {{ tag }}
{% endif %}
