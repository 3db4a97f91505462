{{ pillar['target'] }}/started:
  file.managed:
    - contents: yes, since the settings are there
