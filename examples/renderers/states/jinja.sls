{%- set words = ['b', 'a', 'b'] %}
{%- do words.append('c') %}
{%- load_yaml as settings %}
greeting: hello
{%- endload %}

{%- for word in words | unique | sort %}
from-jinja-{{ word }}:
  test.configurable_test_state:
    - changes: false
    - comment: {{ settings.greeting | upper }} {{ word | sha256 | truncate(8, true, '') }} {{ word is match('[ab]') }}
{%- endfor %}
