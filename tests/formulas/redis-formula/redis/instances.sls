{%- from slspath ~ '/map.jinja' import redis with context %}
{%- set ns = namespace(ports=[], total=0) %}
include:
  - {{ slsdotpath }}.common
{%- for name, instance in redis.instances | dictsort(false, 'key') %}
{%-   if instance.port in ns.ports %}
{{-     raise('two redis instances want port ' ~ instance.port) }}
{%-   endif %}
{%-   do ns.ports.append(instance.port) %}
{%-   set ns.total = ns.total + (instance.settings.maxmemory | default('0') | human_to_bytes(handle_metric=True)) %}
{%-   set id = [sls_path, name] | join('_') %}

{{ id }}_config:
  file.managed:
    - name: {{ redis.dirs.config }}/{{ name }}.conf
    - source: {{ redis.template }}
    - template: jinja
    - context: {{ {'name': name, 'instance': instance, 'dirs': redis.dirs} | yaml }}
    - require: [file: redis-directories]

{{ id }}_service:
{%-   if grains.kernel == 'Linux' %}
  file.managed:
    - name: /etc/systemd/system/redis-{{ name }}.service
    - source: salt://{{ slspath }}/files/instance.service
    - require_in: [{service: {{ id }}_service}]
{%-   endif %}
  service.running:
    - name: redis-{{ name }}
    - enable: True
    - watch:
      - file: {{ id }}_config
{%-   if grains.kernel == 'Linux' %}
      - file: {{ id }}_service
{%-   endif %}
{%- endfor %}

redis_summary:
  test.show_notification:
    - text: {{ '%d instances on %s, %d bytes' | format(ns.ports | length, ns.ports | join('/'), ns.total) }}
    - order: {{ ns.ports | length * -1 }}
