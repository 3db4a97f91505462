{# states of the master's own machine between those of systems #}
machine note:
  test.succeed_with_changes
machine then:
  salt.function:
    - name: test.ping
    - tgt: web1
    - onchanges:
      - test: machine note
machine call:
  module.run:
    - test.echo:
      - text: here
    - require:
      - salt: machine then
