{# two runners beside each other #}
parallel both:
  salt.parallel_runners:
    - runners:
        one:
          - name: state.orchestrate
          - kwarg:
              mods: orch.inner
              pillar:
                words: first
        two:
          - name: state.orchestrate
          - kwarg:
              mods: orch.inner
              pillar:
                words: second
parallel states a:
  salt.function:
    - name: test.ping
    - tgt: web1
    - parallel: True
parallel states b:
  salt.function:
    - name: test.ping
    - tgt: web2
    - parallel: True
