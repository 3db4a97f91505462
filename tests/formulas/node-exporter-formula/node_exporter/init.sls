{%- set tplroot = tpldir.split('/')[0] %}
{%- set found = [] %}
{%- for part in ['account', 'archive', 'config', 'textfiles', 'service', 'nothere'] %}
{%-   if salt['slsutil.file_exists'](tplroot ~ '/' ~ part ~ '.sls') %}
{%-     do found.append('.' ~ part) %}
{%-   endif %}
{%- endfor %}
include: {{ found | json }}
