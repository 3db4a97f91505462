database:
  directory: /srv/data
