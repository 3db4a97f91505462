{% if grains['id'] == 'web2' %}
bad:
  test.fail_without_changes
{% else %}
good:
  test.succeed_with_changes
{% endif %}
