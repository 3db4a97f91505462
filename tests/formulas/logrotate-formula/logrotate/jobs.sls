{% from "logrotate/map.jinja" import logrotate with context %}
{% macro script(name, text) %}
{{ name }}
{{ text | indent(2, first=true) }}
endscript
{%- endmacro %}
include: [logrotate.config]
{% for name, job in logrotate.jobs | dictsort %}
logrotate-{{ name }}:
{% if not job.get('enabled', true) %}
  file.absent: [name: {{ logrotate.include_dir ~ '/' ~ name }}]
{% continue %}
{% endif %}
{% set paths = job.path if job.path is iterable and job.path is not string else [job.path] %}
{% load_text as body %}
{% for path in paths %}{{ path }}{% if not loop.last %} {% endif %}{% endfor %} {
{%- for word in job.config %}
  {{ word if word is string else (word | dictsort | first) | join(' ') }}
{%- endfor %}
{%- for kind, text in job.get('scripts', {}) | dictsort %}
{{ script(kind, text) | indent(2) }}
{%- endfor %}
}
{% endload %}
  file.managed:
    - name: {{ logrotate.include_dir ~ '/' ~ name }}
    - contents: {{ body | yaml_dquote }}
    - user: root
    - group: {{ logrotate.root_group }}
    - require: [{file: logrotate-config}]
{% endfor %}
