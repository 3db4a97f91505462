open-the-shop:
  exec.lines:
    - command:
      - python3
      - salt://steps.py
      - {{ pillar['target'] }}
      - counter
      - window
    - dry_run: True

close-the-old-one:
  exec.lines:
    - command: sh salt://steps.sh
    - require:
      - exec: open-the-shop
