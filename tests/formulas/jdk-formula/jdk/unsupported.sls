jdk-unsupported:
  test.fail_without_changes:
    - name: this release gets no long support
    - failhard: false
