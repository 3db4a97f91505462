{%- from tpldir ~ '/map.jinja' import jdk with context %}
include:
  - jdk.archive
  - jdk.environ
{%- if jdk.alternatives.priority | int > 0 and grains['kernel'] == 'Linux' %}
  - jdk.alternatives
{%- endif %}
{%- for condition, name in [(jdk.cacerts, 'cacerts'), (not jdk.facts.lts, 'unsupported')] if condition %}
  - .{{ name }}
{%- endfor %}
