# The database gives each row its UUID; each customer then gets a file under it.
{% set database = pillar['target'] ~ '/shop.db' %}

{{ pillar['target'] }}:
  file.directory:
    - makedirs: true

schema:
  cmd.script:
    - source: salt://schema.sh
    - args: [{{ database | tojson }}]
    - creates: {{ database }}
    - require:
      - file: {{ pillar['target'] }}

{% for name in ['ada', 'grace', 'mary'] %}
customer {{ name }}:
  cmd.run:
    - name: sqlite3 {{ database }}
    - stdin: |
        INSERT OR IGNORE INTO customer (name) VALUES ('{{ name }}');
        SELECT 'changed=' || iif(changes(), 'yes', 'no') || ' uuid=' || uuid FROM customer WHERE name = '{{ name }}';
    - stateful: true
    - require:
      - cmd: schema
    - delayed_render:
      - block: settings
        context: {customer: {{ name }}}
{% endfor %}

#!delayed_block settings delayed_repeat_limit=None
settings of {{ customer }}:
  file.managed:
    - name: {{ (pillar['target'] ~ '/customers/' ~ prev_ret.data.uuid ~ '.conf') | tojson }}
    - contents: name = {{ customer }}
    - makedirs: true
#!end_delayed_block settings
