vhosts:
  - example.org
  - example.net
