{%- from "sudoers/map.jinja" import sudoers, WORDS with context %}
{%- from "sudoers/macros.jinja" import lines %}
{%- set main = sudoers.manage_main | to_bool %}
include:
  - sudoers.included

sudo:
  pkg.installed:
    - name: {{ sudoers.pkg }}
{% if main %}
{{ sudoers.file }}:
  file.managed:
    - user: root
    - group: {{ sudoers.group }}
    - mode: {{ sudoers.mode }}
    - check_cmd: {{ sudoers.visudo }} -c -f
    - contents: |
        {%- for one in sudoers.defaults.generic | default([]) %}
        Defaults {{ one }}
        {%- endfor %}
        {%- for who, given in (sudoers.defaults.user_list | default({})) | dictsort(true) %}
        Defaults:{{ who }} {{ given if given is string else given | join(', ') }}
        {%- endfor %}
        {{- lines(sudoers, WORDS) | indent(8) }}
        #includedir {{ sudoers.includedir }}
    - require:
      - pkg: sudo
    - require_in: [{file: sudoers-directory}]
{% else %}
sudoers-main-left-alone:
  file.exists: [{name: {{ sudoers.file }}}]
{% endif %}
