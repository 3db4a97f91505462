# First the databases; then the web servers, with the place that the database answered; then a look.
databases:
  salt.state:
    - tgt: 'db*'
    - sls: db
    - pillar:
        target: {{ pillar['target'] }}

where the data is:
  salt.function:
    - name: grains.get
    - tgt: db1
    - arg: [id]
    - require:
      - salt: databases
    - delayed_render:
      - block: web_servers

#!delayed_block web_servers
web servers:
  salt.state:
    - tgt: 'web*'
    - sls: web
    - pillar:
        target: {{ pillar['target'] }}
        database: {{ prev_ret['changes']['ret']['db1'] | tojson }}

what they have:
  salt.function:
    - name: file.read
    - tgt: 'web*'
    - arg: [{{ pillar['target'] }}/web.conf]
    - require:
      - salt: web servers
#!end_delayed_block
