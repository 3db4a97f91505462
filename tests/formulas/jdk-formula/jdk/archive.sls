{%- from tpldir ~ '/map.jinja' import jdk with context %}
jdk-archive:
  file.directory:
    - name: {{ jdk.dirs.base }}
    - makedirs: true
    - mode: 755
  archive.extracted:
    - name: {{ jdk.home }}
    - source:
      - salt://jdk/files/{{ jdk.facts.file }}
      - {{ jdk.mirror }}/{{ jdk.facts.feature }}/{{ jdk.facts.arch }}/{{ jdk.facts.file }}
    - source_hash: sha256={{ jdk.facts.hash }}
    - options: --strip-components=1
    - enforce_toplevel: false
    - user: {{ jdk.user }}
    - trim_output: true
    - if_missing: {{ jdk.home }}/release
    - retry: {attempts: 3, interval: 10, until: true}
    - require:
      - file: jdk-archive

jdk-archive-link:
  file.symlink:
    - name: {{ jdk.dirs.base }}/current
    - target: {{ jdk.home }}
    - force: true
    - onchanges:
      - archive: {{ jdk.home }}
