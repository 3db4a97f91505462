{%- from './map.jinja' import openssh, sshd with context %}
{%- from './macros.jinja' import setting %}
include:
  - openssh
  - openssh.banner

extend:
  openssh:
    service.running:
      - watch:
        - file: openssh-sshd-config
      - listen:
        - file: openssh-banner

openssh-sshd-config:
  file.managed:
    - name: {{ openssh.config }}
    - mode: '0600'
    - group: {{ openssh.group }}
    - check_cmd: {{ salt['config.get']('openssh:sshd_binary', '/usr/sbin/sshd') }} -t -f
    - contents: |
        # {{ 'host ' ~ grains.host | upper }}
        {%- for word, value in sshd | dictsort if word != 'Match' %}
        {{- setting(word, value, 8) }}
        {%- endfor %}
        {%- for name, match in (sshd.Match | default({})).items() %}
        Match {{ match.type }} {{ name }}
        {%-   for word, value in match.options.items() %}
        {{- setting(word, value, 12) }}
        {%-   endfor %}
        {%- endfor %}
{%- if openssh.server %}
    - require:
      - pkg: openssh
{%- endif %}

openssh-ssh-config:
  file.managed:
    - name: {{ openssh.client_config }}
    - contents: {{ salt['slsutil.serialize']('json', salt['pillar.get']('ssh_config:Hosts', {}), sort_keys=true) | yaml_dquote }}
    - use:
      - file: openssh-banner

{%- for kind, key in openssh.host_keys | dictsort %}
{%-   set file = '/etc/ssh/ssh_host_' ~ kind ~ '_key' %}
{%-   if key.present %}
openssh-host-key-{{ kind }}:
  cmd.run:
    - name: ssh-keygen -q -t {{ kind }}{{ ' -b ' ~ key.size if key.size is defined }} -N '' -f {{ file }}
    - creates: {{ file }}
    - require_in:
      - service: openssh
{%-   else %}
openssh-host-key-{{ kind }}:
  file.absent:
    - names: [{{ file }}, {{ file }}.pub]
    - watch_in:
      - service: openssh
{%-   endif %}
{%- endfor %}
