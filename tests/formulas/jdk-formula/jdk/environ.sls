{%- from tpldir ~ '/map.jinja' import jdk, megabytes with context %}
jdk-environ:
  file.managed:
    - name: {{ jdk.dirs.profile }}/jdk.sh
    - contents: |
        export JAVA_HOME={{ jdk.dirs.base }}/current
        export PATH="$JAVA_HOME/bin:$PATH"
        export JAVA_OPTS="-Xmx{{ megabytes }}m{% for flag in jdk.options.flags | default([]) %} {{ flag }}{% endfor %}"
  environ.setenv:
    - name: JAVA_HOME
    - value: {{ jdk.dirs.base }}/current
    - update_minion: true
    - onchanges: [file: jdk-environ]
