{%- from 'openssh/map.jinja' import openssh with context %}
openssh-banner:
  file.managed:
    - name: {{ openssh.banner if openssh.banner.startswith('/') else '/etc/ssh/banner' }}
    - contents: {{ salt['pillar.get']('openssh:banner', 'Welcome.') | tojson }}
    - mode: '0644'
    - user: root
    - group: {{ openssh.group }}
