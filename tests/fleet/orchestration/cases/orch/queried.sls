{# runners that answer questions #}
queried status:
  salt.runner:
    - name: manage.status
queried down:
  salt.runner:
    - name: manage.down
queried arguments:
  salt.runner:
    - name: test.arg
    - arg: [one]
    - kwarg:
        two: 2
queried here:
  salt.runner:
    - name: salt.cmd
    - arg: [test.echo, fine]
queried there:
  salt.runner:
    - name: salt.execute
    - arg: ['web*', test.ping]
queried grains:
  salt.runner:
    - name: cache.grains
    - tgt: web1
queried pillar:
  salt.runner:
    - name: pillar.show_pillar
    - minion: web1
queried mine:
  salt.runner:
    - name: mine.get
    - arg: ['web*', test.ping]
queried too little:
  salt.runner:
    - name: mine.get
    - tgt: 'web*'
queried files:
  salt.runner:
    - name: fileserver.update
queried unknown:
  salt.runner:
    - name: nobody.knows
queried wheel unknown:
  salt.wheel:
    - name: nobody.knows
