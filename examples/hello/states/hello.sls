# One file, written below the directory that pillar names.
{{ pillar['target'] }}/greeting.txt:
  file.managed:
    - contents: Hello from {{ sls }}
    - makedirs: true
