#!mako|yaml
<%
    tasks = pillar.get('cronjobs', {}).get('tasks', {})
%>
% for name in sorted(tasks):
/etc/cron.d/${name}:
  file.absent:
    - require:
      - cron: cronjobs-${name if name != 'rotate' or grains['os_family'] == 'Debian' else 'backup'}
% endfor
include:
  - cronjobs.tasks
