{# an event that does not come #}
waits in vain:
  salt.wait_for_event:
    - name: shop/*/ready
    - id_list: [web1]
    - timeout: 1
