{%- from tpldir ~ '/map.jinja' import jdk with context %}
{%- for tool in jdk.alternatives.tools | unique %}
jdk-alternatives-{{ tool }}:
  alternatives.install:
    - name: {{ tool }}
    - link: /usr/bin/{{ tool }}
    - path: {{ jdk.home }}/bin/{{ tool }}
    - priority: {{ jdk.alternatives.priority + loop.index0 }}
    - require: [{archive: jdk-archive}]
    - onlyif: [test -x {{ jdk.home }}/bin/{{ tool }}]
{%- endfor %}
