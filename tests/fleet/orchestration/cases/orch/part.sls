part first:
  salt.function:
    - name: test.echo
    - tgt: web1
    - arg: [plain]
