{# mistakes in the file #}
mistakes nothing:
  salt.state:
    - tgt: web1
mistakes number:
  salt.state:
    - tgt: web1
    - sls: plain
    - allow_fail: many
mistakes concurrent:
  salt.state:
    - tgt: web1
    - sls: plain
    - concurrent: maybe
mistakes file:
  salt.state:
    - tgt: web1
    - sls: is_not_there
