{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ '/map.jinja' import docker with context %}
{%- from tpldir ~ '/container.jinja' import container %}
include:
  - ..engine

docker-compose-file:
  file.managed:
    - name: {{ docker.dir.compose }}/compose.yaml
    - makedirs: true
    - contents: {{ salt['slsutil.serialize']('yaml', {'services': docker.containers}, default_flow_style=False) | json }}
    - require:
      - sls: docker.engine

{%- for name, settings in docker.containers.items() %}
{{ container(name, depends=settings.get('depends', []), **{'image': settings.image, 'restart': settings.restart | default('no')}) }}
{%-   if settings.env is defined %}
docker-compose-env-{{ name }}:
  file.managed:
    - name: {{ docker.dir.compose }}/{{ name }}.env
    - mode: '0600'
    - contents:
{%-     for key, value in settings.env | dictsort %}
      - {{ (key ~ '=' ~ value) | yaml_dquote }}
{%-     endfor %}
    - onchanges_in:
      - cmd: docker-compose-{{ name }}
{%-   endif %}
{%- endfor %}
