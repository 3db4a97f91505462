{%- from './map.jinja' import chrony with context %}
chrony-package:
  pkg.installed:
    - name: {{ chrony.package }}
{%- if grains['os_family'] in ['Debian', 'RedHat'] %}
chrony-package-others-gone:
  pkg.removed:
    - pkgs: [ntp, openntpd, systemd-timesyncd]
    - require_in: [{pkg: chrony-package}]
{%- endif %}
