{% set package = {'Debian': 'nginx', 'RedHat': 'nginx-core'}[grains['os_family']] %}
{{ package }}:
  pkg.installed: []

/etc/nginx/conf.d/site.conf:
  file.managed:
    - contents: listen {{ pillar['port'] }};
    - require:
      - pkg: nginx
