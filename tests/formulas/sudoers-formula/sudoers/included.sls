{%- from "sudoers/map.jinja" import sudoers, WORDS with context %}
{%- from "sudoers/macros.jinja" import lines %}
sudoers-directory:
  file.directory:
    - name: {{ sudoers.includedir }}
    - mode: '0750'

{%- for place, part in sudoers.included_files.items() %}
{%-   set path = place if place.startswith('/') else sudoers.includedir ~ '/' ~ place | replace('/', '-') %}
sudoers include {{ place }}:
  file.managed:
    - name: {{ path }}
    - contents: {{ lines(part, WORDS) | trim | yaml_encode }}
    - template: ~
    - check_cmd: {{ sudoers.visudo }} -c -f
    - require:
      - file: {{ sudoers.includedir }}
{%- endfor %}

sudoers-fragments:
  file.accumulated:
    - filename: {{ sudoers.includedir }}/accumulated
    - name: fragments
    - text: {{ sudoers.groups.keys() | map('upper') | list }}
    - require_in:
      - file: sudoers-accumulated
sudoers-accumulated:
  file.managed:
    - name: {{ sudoers.includedir }}/accumulated
    - contents: ''
    - onlyif: {{ [sudoers.visudo ~ ' -V', 'true'] | json }}
