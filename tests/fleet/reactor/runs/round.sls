{# it leads to itself #}
again:
  runner.event.send:
    - tag: {{ tag }}
