{#- Every formula of the tree, given out by what a machine is. -#}
{%- set linux = grains.kernel == 'Linux' %}
base:
  '*':
    - openssh.all
    - users
    - logrotate
    - sudoers
  'G@roles:web or G@roles:gateway':
    - nginx
    - firewall
  'roles:database':
    - match: grain
    - postgres
    - postgres.report
  'P@os_family:(Debian|RedHat) and not L@gate5.example.org,build6.example.org':
    - chrony
    - cronjobs
  'app*,db*':
    - match: list
    - redis
  '^(app|db|dev)\d':
    - match: pcre
    - redis
    - jdk
{%- if linux %}
  'docker:wanted:compose':
    - match: pillar
    - docker
{%- endif %}
  'S@192.0.2.0/24':
    - node_exporter
