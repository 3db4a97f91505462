include:
  - common

# Changes one argument of a state that another SLS declares.
extend:
  motd:
    file.managed:
      - contents: |
          This is {{ grains['id'] }}, a database. Mind the step.

credentials:
  file.managed:
    - name: {{ pillar['target'] }}/credentials
    - contents_pillar: database:password
    - mode: '0600'
    - show_changes: false
