{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ '/map.jinja' import nginx with context %}

nginx-package-install-pkg-installed:
  pkg.installed:
    {%- if nginx.package.pinned is defined %}
    - pkgs:
      {%- for name, version in nginx.package.pinned.items() %}
      - {{ name }}: {{ version | yaml_dquote }}
      {%- endfor %}
    - hold: true
    {%- else %}
    - name: {{ nginx.package.name }}
    {%- endif %}

{%- if nginx.package.extras %}
nginx-package-install-extras:
  pkg.installed:
    - pkgs: {{ nginx.package.extras | json }}
    - require:
      - pkg: nginx-package-install-pkg-installed
{%- endif %}
