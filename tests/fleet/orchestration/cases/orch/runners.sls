{# runners and wheel functions #}
runners up:
  salt.runner:
    - name: manage.up
runners keyword:
  salt.runner:
    - name: manage.up
    - tgt: 'web*'
runners sleep:
  salt.runner:
    - name: test.sleep
    - s_time: 0.1
runners keys:
  salt.wheel:
    - name: key.list
    - match: accepted
runners cache:
  salt.runner:
    - name: fileserver.envs
