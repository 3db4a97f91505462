{%- from tpldir ~ '/map.jinja' import redis with context %}
include:
  - .common
{%- if redis.enabled | to_bool %}
  - .instances
{%- endif %}
{%- if redis.overcommit or redis.somaxconn != 511 %}
  - .kernel
{%- endif %}
