#!delayed_sls delayed_repeat_limit=None
# Rendered after any state that knows an instance: one file for each, under the id that the cloud chose.
{{ role }}:
  file.serialize:
    - name: {{ (pillar['target'] ~ '/inventory/' ~ prev_ret.data.id ~ '.json') | tojson }}
    - serializer: json
    - makedirs: true
    - dataset: {{ {'role': role, 'instance': prev_ret.data} | tojson }}
