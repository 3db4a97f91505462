{%- from 'web/map.jinja' import web, root with context %}

# Made before every file below it: require_in says so from this side.
web-directory:
  file.directory:
    - name: {{ root }}/sites
    - makedirs: true
    - require_in:
      - file: web-config
    {%- for site in web.sites %}
      - file: web-site-{{ site }}
    {%- endfor %}

web-config:
  file.managed:
    - name: {{ root }}/web.conf
    - source: salt://web/files/web.conf.jinja
    - template: jinja
    - context:
        port: {{ web.port }}
        workers: {{ web.workers }}
    - mode: '0640'

{%- for site, settings in web.sites | dictsort %}

web-site-{{ site }}:
  file.managed:
    - name: {{ root }}/sites/{{ site }}.conf
    - source: salt://web/files/site.conf.jinja
    - template: jinja
    - context:
        site: {{ site }}
        document_root: {{ settings.root }}
{%- endfor %}
