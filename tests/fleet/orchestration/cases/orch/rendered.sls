{# rendered with what the fleet says #}
{% for id in salt['saltutil.runner']('manage.up')|sort %}
rendered {{ id }}:
  salt.function:
    - name: test.echo
    - tgt: {{ id }}
    - arg: ['{{ id }}']
{% endfor %}
rendered pillar {{ pillar.get('release', 'none') }}:
  salt.state:
    - tgt: web1
    - sls: told
    - pillar:
        told: True
        words: {{ pillar.get('release', 'none') }}
