{%- set names = salt['grains.filter_by']({
      'Debian': {'pkg': 'cron', 'service': 'cron'},
      'RedHat': {'pkg': 'cronie', 'service': 'crond'},
      'Arch': {'pkg': 'cronie', 'service': 'cronie'},
      'Suse': {'pkg': 'cronie', 'service': 'cron'},
      'FreeBSD': {'pkg': None, 'service': 'cron'},
    }) %}
cronjobs:
  {%- if names.pkg %}
  pkg.installed:
    - name: {{ names.pkg }}
  {%- endif %}
  service.running:
    - name: {{ names.service }}
    - enable: {{ salt['pillar.get']('cronjobs:enabled', True) }}
