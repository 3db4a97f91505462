{%- from 'docker/map.jinja' import docker with context %}
docker-clean:
  service.dead: [{name: {{ docker.service }}}, {enable: false}]
  pkg.purged:
    - name: {{ docker.pkg.name }}
    - require: [service: docker-clean]
  file.absent:
    - names: {{ [docker.dir.config, docker.dir.compose] | json }}
    - require: [pkg: docker-clean]
    - order: last
