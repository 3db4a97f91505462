{# wait until a system says that it is ready #}
announced:
  salt.wait_for_event:
    - name: shop/*/ready
    - id_list: [web1, web2]
    - timeout: 60
    - parallel: True
announced pause:
  salt.runner:
    - name: test.sleep
    - s_time: 4
announced by all:
  salt.function:
    - name: event.send
    - tgt: 'web*'
    - arg: [shop/web/ready]
    - require:
      - salt: announced pause
