{% from 'users/map.jinja' import users_map with context %}
{% from 'users/macros.jinja' import sudo_wanted with context %}
{% set formula = salt['pillar.get']('users-formula', {}) %}
{% set accounts = salt['pillar.get']('users', {}) %}
{% set sudoers = [] %}
{% for name, account in accounts.items() if sudo_wanted(account or {}) == 'yes' %}
{%   do sudoers.append(name) %}
{% endfor %}

include:
  - .groups
{% if formula.get('use_sudo', false) and sudoers %}
  - .sudo
{% endif %}

{% for name, account in accounts.items() %}
{%   set account = account or {} %}
{%   if account.get('absent', false) %}
users_{{ name }}_absent:
  user:
    - absent
    - name: {{ name }}
    - purge: {{ account.get('purge', false) }}
    - force: {{ account.get('force', false) }}
{%     continue %}
{%   endif %}
{%   set home = account.get('home', users_map.home ~ '/' ~ name) %}
users_{{ name }}:
  user:
    - present
    - name: {{ name }}
    - home: {{ home }}
    - shell: {{ account.get('shell', users_map.shell) }}
{%   for key in ('uid', 'fullname', 'expire') if key in account %}
    - {{ key }}: {{ account[key] | yaml_encode }}
{%   endfor %}
{%   set wanted = account.get('groups', []) %}
{%   if name in sudoers %}
{%     set wanted = wanted | union([users_map.admin_group]) %}
{%   endif %}
{%   if wanted %}
    - groups:
{%     for group in wanted | unique | sort %}
      - {{ group }}
{%     endfor %}
{%   endif %}
{%   if 'optional_groups' in account %}
    - optional_groups: {{ account.optional_groups | difference(wanted) }}
{%   endif %}
    - remove_groups: {{ account.get('remove_groups', true) | yaml }}
    - require:
{%   for group in wanted | intersect(salt['pillar.get']('groups', {}).keys() | list) %}
      - group: users_group_{{ group }}
{%   endfor %}
      - sls: users.groups
  file:
    - directory
    - name: {{ home }}
    - user: {{ name }}
    - mode: {{ account.get('mode', '0700') | yaml_squote }}
    - require:
      - user: users_{{ name }}
{%   for key in account.get('keys', []) %}
{%     set parts = key.split(None, 2) %}
users_{{ name }}_key_{{ loop.index0 }}:
  ssh_auth.present:
    - name: {{ parts[1] }}
    - user: {{ name }}
    - enc: {{ parts[0] | regex_replace('^ssh-', '') }}
{%     if parts | length > 2 %}
    - comment: {{ parts[2] }}
{%     endif %}
    - require: [file: users_{{ name }}]
{%   endfor %}
{%   for target, source in account.get('dotfiles', {}).items() %}
users_{{ name }}_{{ target | replace('/', '_') }}:
  file.managed:
    - name: {{ home }}/{{ target }}
    - source: {{ source }}
    - user: {{ name }}
    - makedirs: true
    - use:
      - file: users_{{ name }}
    - require:
      - user: {{ name }}
{%   endfor %}
{% endfor %}

{% for name in salt['pillar.get']('absent_users', []) %}
users_{{ name }}_gone: {user: [absent, name: {{ name }}]}
{% endfor %}
