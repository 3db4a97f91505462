# The cloud chooses the id and the address of an instance. What depends on them is rendered afterwards.
{% set target = pillar['target'] %}

web:
  instance.present:
    - url: {{ salt['environ.get']('CLOUD') }}
    - size: large
    - register: web
    - delayed_render:
      - block: names
      - sls: inventory
        context: {role: frontend}

# One value is all that is needed here, so this needs no block.
{{ target }}/proxy.conf:
  file.managed:
    - contents: upstream ${delayed:web.data.address}:8080;
    - makedirs: true

#!delayed_block names scoped
{{ target }}/hosts:
  file.append:
    - makedirs: true
    - text: {{ (prev_ret.data.address ~ ' ' ~ prev_ret.data.name) | tojson }}
#!end_delayed_block names
