{# what follows leads to the next #}
pass_on:
  runner.event.send:
    - tag: runs/second
    - data:
        place: {{ data['place'] }}
        hosts: {{ data['hosts'] | tojson }}
