{% for host in data['hosts'] if host != data.get('but') %}
mark_{{ host }}:
  local.cmd.run:
    - tgt: {{ host }}
    - arg:
      - echo {{ host }} >> {{ data['place'] }}/each
{% endfor %}
