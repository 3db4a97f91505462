{%- set tplroot = tpldir.split('/')[0] %}
{%- set sls_config_clean = tplroot ~ '.config.clean' %}
{%- from tplroot ~ '/map.jinja' import nginx with context %}

include:
  - {{ sls_config_clean }}

nginx-package-clean-pkg-removed:
  pkg.removed:
    - pkgs: {{ ([nginx.package.name] + nginx.package.extras) | json }}
    - require:
      - sls: {{ sls_config_clean }}
