# A key is made; its fingerprint is not known before that.
{% set key = pillar['target'] ~ '/deploy_key' %}

{{ pillar['target'] }}:
  file.directory:
    - makedirs: true

deploy key:
  cmd.run:
    - name: ssh-keygen -q -t ed25519 -N '' -C deploy -f {{ key }}
    - creates: {{ key }}
    - require:
      - file: {{ pillar['target'] }}
    - delayed_render:
      - block: allow

# Looks, changes nothing, and says what it found: that becomes its data.
fingerprint:
  cmd.run:
    - name: printf 'sha256=%s\n' "$(ssh-keygen -l -f {{ key }}.pub | cut -d ' ' -f 2)"
    - read_only: true
    - stateful: true
    - require:
      - cmd: deploy key
    - register: key

{{ pillar['target'] }}/README:
  file.managed:
    - contents: The deploy key is ${delayed:key.data.sha256}

#!delayed_block allow scoped
{{ pillar['target'] }}/authorized_keys:
  file.managed:
    - mode: '0600'
    - contents: {{ ('restrict ' ~ salt['file.read'](key ~ '.pub')) | tojson }}
#!end_delayed_block allow
