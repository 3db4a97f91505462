{% set site = pillar['roster'] %}

The directory:
  file.directory:
    - name: {{ site.root }}
    - mode: '0750'

The page:
  file.managed:
    - name: {{ site.root }}/index.html
    - source: salt://index.html.j2
    - template: jinja
    - context: {{ site | tojson }}
    - mode: '0640'
    - require:
      - file: The directory

The rules for robots:
  file.managed:
    - name: {{ site.root }}/robots.txt
    - source: salt://robots.txt
    - mode: '0644'
    - require:
      - file: The directory

The settings:
  file.managed:
    - name: {{ site.root }}/settings
    - mode: '0600'
    - replace: false
    - require:
      - file: The directory

The title:
  file.replace:
    - name: {{ site.root }}/settings
    - pattern: ^title=.*
    - repl: title={{ site.title }}
    - append_if_not_found: true
    - backup: false
    - require:
      - file: The settings

{% if site.status_page %}
The page for monitoring:
  file.managed:
    - name: {{ site.root }}/status
    - contents: ok
    - mode: '0644'
    - require:
      - file: The directory
{% endif %}

Reload:
  cmd.run:
    - name: echo reloaded >> log
    - cwd: {{ site.root }}
    - onchanges:
      - file: The page
