{%- from slspath ~ '/map.jinja' import redis with context %}
redis-package:
  pkg:
    - installed
    - name: {{ redis.package.name }}
{%- if redis.package.hold %}
    - hold: True
{%- endif %}

redis-directories:
  file.directory:
    - names: {{ redis.dirs.values() | list | unique | sort }}
    - user: {{ redis.owner.user }}
    - group: {{ redis.owner.group }}
    - mode: '0750'
    - makedirs: True
    - require:
      - pkg: redis-package

# The distribution's own instance is not wanted where there are others.
{%- if redis.instances %}
redis-default-service:
  service.dead:
    - name: {{ redis.service }}
    - enable: False
    - prereq:
      - pkg: redis-package
{%- endif %}
