# A file is written; where on the disk it came to lie can be asked only then.
{{ pillar['target'] }}/data.bin:
  file.managed:
    - contents: some bytes that have to be somewhere
    - makedirs: true
    - delayed_render:
      - block: placement

#!delayed_block placement
{% set path = prev_ret.data.path %}
{% set inode, device = salt['cmd.run_stdout'](['stat', '--format', '%i %d', path]).split() %}
{% set asked = salt['cmd.run_all'](['filefrag', '-s', '-v', path], prepend_path='/usr/sbin:/sbin') %}

{# Of lines such as "0:  0..  0:  10921836..  10921836:  1:  eof" the third cell is the place on the disk. #}
{% set extents = [] %}
{% for line in asked.stdout.splitlines() %}
  {% set found = line | regex_search('^ *[0-9]+:[^:]*: *([0-9]+)[.]+ *([0-9]+):') %}
  {% if found %}{% do extents.append(found | join('-')) %}{% endif %}
{% endfor %}

{{ pillar['target'] }}/placement.txt:
  file.managed:
    - contents: |
        file: {{ path }}
        inode: {{ inode }}
        device: {{ device }}
        extents: {{ extents | join(', ') or 'this filesystem does not tell' }}
#!end_delayed_block placement
