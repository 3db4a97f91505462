{% from 'users/map.jinja' import users_map with context %}
users_sudo:
  pkg.installed:
    - name: {{ users_map.sudo_package }}
  file.directory:
    - name: {{ users_map.sudoers_dir }}
    - group: {{ users_map.root_group }}
    - mode: '0750'
    - require:
      - pkg: users_sudo

{% for name, account in salt['pillar.get']('users', {}).items() if account and account.sudo_rules is defined %}
users_sudo_{{ name }}:
  file.managed:
    - name: {{ users_map.sudoers_dir }}/{{ name | regex_replace('[.~]', '_') }}
    - mode: '0440'
    - contents:
{%   for rule in account.sudo_rules %}
      - '{{ name }} {{ rule }}'
{%   endfor %}
    - check_cmd: visudo -cf
    - require:
      - file: users_sudo
      - user: users_{{ name }}
{% else %}
users_sudo_nobody:
  test.nop: []
{% endfor %}
