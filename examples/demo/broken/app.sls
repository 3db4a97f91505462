# Two mistakes, both found before anything runs.
{%- for user in ['ada', 'grace'] %}

home-of-{{ user }}:
  file.directory:
    - name: /home/{{ user }}
{%- endfor %}

app-config:
  file.managed:
    - name: /etc/app.conf
    - require:
      - file: home-of-adda

app-restart:
  cmd.wait:
    - name: systemctl restart app
    - watch:
      - cmd: app-config
