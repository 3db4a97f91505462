{%- from 'firewall/map.jinja' import firewall, own with context %}
firewall-unknown:
  test.configurable_test_state:
    - name: no rules for {{ firewall.backend }} on {{ own | join(' and ') }}
    - changes: false
    - result: true
    - comment: {{ grains.id | regex_match('([a-z]+)(\d+).*') | json }}
