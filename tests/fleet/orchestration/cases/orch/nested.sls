{# one orchestration runs another #}
nested part:
  salt.runner:
    - name: state.orchestrate
    - mods: orch.inner
    - pillar:
        words: from outside
nested wrong:
  salt.runner:
    - name: state.orchestrate
    - kwarg:
        mods: orch.inner_wrong
