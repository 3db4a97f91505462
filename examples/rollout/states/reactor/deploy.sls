# An event shop/release: roll out, with what the event says.
roll out:
  runner.state.orchestrate:
    - args:
      - mods: orch.rollout
      - pillar:
          target: {{ data['target'] | yaml_dquote }}
