{# made of other files, with macros and an extension #}
{% from 'orch/macros.jinja' import ping with context %}
include:
  - orch.part
extend:
  part first:
    salt.function:
      - arg: [extended]
{{ ping('web1') }}
{{ ping('web2') }}
parts names:
  salt.function:
    - names: [test.true, test.ping]
    - tgt: db1
    - order: last
