web:
  port: 8080
  sites:
    example.org:
      root: /srv/www/example.org
    example.net:
      root: /srv/www/example.net
