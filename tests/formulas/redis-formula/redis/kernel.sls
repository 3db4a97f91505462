{%- from slspath ~ '/map.jinja' import redis with context %}
{%- set wanted = [('net.core.somaxconn', redis.somaxconn), ('vm.overcommit_memory', redis.overcommit | int)] %}
{%- for key, value in wanted if grains.kernel == 'Linux' %}
{{ key }}:
  sysctl.present:
    - value: {{ value }}
    - config: /etc/sysctl.d/60-redis.conf
    - unless: test "$(cat /proc/sys/{{ key.replace('.', '/') }})" = {{ value }}
{%- else %}
redis-kernel-nothing:
  test.nop
{%- endfor %}
