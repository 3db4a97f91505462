{% for kind, target in [('grain', 'id:web1'), ('grain_pcre', 'id:web[12]'), ('pcre', 'db\d'), ('compound', 'web* and not web2'), ('list', 'web1,db1'), ('glob', 'web?')] %}
targets {{ kind }}:
  salt.function:
    - name: test.ping
    - tgt: '{{ target }}'
    - tgt_type: {{ kind }}
{% endfor %}
targets as a list:
  salt.function:
    - name: test.ping
    - tgt: [web1, web2]
    - tgt_type: list
