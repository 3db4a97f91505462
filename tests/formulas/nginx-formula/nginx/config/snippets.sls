{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ '/map.jinja' import nginx with context %}
{%- set directory = nginx.config.file | regex_replace('[^/]+$', 'snippets') %}

nginx-config-snippets-directory:
  file.directory:
    - name: {{ directory }}
    - dir_mode: 755

{%- for name, settings in nginx.snippets | dictsort %}
nginx-config-snippets-{{ name }}:
  file.managed:
    - name: {{ directory }}/{{ name }}.conf
    - contents: |
        {%- for setting in settings %}
        {%-   for word, value in setting.items() %}
        {{ word }} {{ value }};
        {%-   endfor %}
        {%- endfor %}
    - require:
      - file: nginx-config-snippets-directory
    - require_in:
      - file: nginx-config-file-managed
{%- endfor %}
