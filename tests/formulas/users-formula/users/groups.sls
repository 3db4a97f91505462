{% for name, group in salt['pillar.get']('groups', {}) | dictsort %}
users_group_{{ name }}:
  group.present:
    - name: {{ name }}
{%   for key, value in group.items() %}
    - {{ {key: value | to_bool if key == 'system' else value} | json }}
{%   endfor %}
{% endfor %}

{% set gone = salt['pillar.get']('absent_groups', []) %}
{% if gone %}
users_groups_absent:
  group.absent:
    - names: {{ gone }}
    - order: last
{% endif %}
