{# commands, and those that fail #}
commands fine:
  salt.function:
    - name: cmd.run
    - tgt: web1
    - arg:
      - echo fine
commands keywords:
  salt.function:
    - name: cmd.run
    - tgt: web1
    - arg:
      - echo $PLACE
    - kwarg:
        env:
          PLACE: here
commands false:
  salt.function:
    - name: test.false
    - tgt: web1
commands text:
  salt.function:
    - name: test.echo
    - tgt: web1
    - arg: one
