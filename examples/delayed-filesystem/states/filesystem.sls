# An image file gets a filesystem; mkfs chooses its UUID, and the table of mounts needs it.
{% set image = pillar['target'] ~ '/disk.img' %}

{{ image }}:
  cmd.run:
    - name: mkdir -p {{ pillar['target'] }} && truncate --size 4M {{ image }}
    - creates: {{ image }}

filesystem:
  cmd.run:
    - name: mkfs.ext4 -q -F -L archive {{ image }}
    - prepend_path: /usr/sbin:/sbin
    - unless: PATH=/usr/sbin:/sbin:$PATH blkid --probe {{ image }}
    - require:
      - cmd: {{ image }}
    - delayed_render:
      - block: mount

#!delayed_block mount scoped
{% set found = {} %}
{% set blkid = salt['cmd.run_stdout'](['blkid', '--probe', '--output', 'export', image], prepend_path='/usr/sbin:/sbin') %}
{% for line in blkid.splitlines() if '=' in line %}
  {% set key, value = line.split('=', 1) %}
  {% do found.update({key: value}) %}
{% endfor %}
entry:
  mount.fstab_present:
    - name: UUID={{ found.UUID }}
    - fs_file: /srv/{{ found.LABEL }}
    - fs_vfstype: {{ found.TYPE }}
    - mount: false
    - config: {{ pillar['target'] }}/fstab
#!end_delayed_block mount
