{%- from slspath ~ '/map.jinja' import redis with context %}
{%- set services = redis.instances.keys() | map('regex_replace', '^', 'redis-') | list + [redis.service] %}
redis-removed:
  service.dead:
    - names: {{ services | json }}
    - enable: False
  pkg.purged:
    - name: {{ redis.package.name }}
    - require: [service: redis-removed]
  file.absent:
    - names:
{%- for directory in redis.dirs.values() | sort %}
      - {{ directory }}:
        - onlyif: test -d {{ directory }}
{%- endfor %}
    - require:
      - pkg: redis-removed
