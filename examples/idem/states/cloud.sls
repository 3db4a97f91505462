{{ pillar.target }}/params.sls:
  file.managed:
    - contents: "target: {{ pillar.target }}"

cloud:
  idem.state:
    - name: salt://network.sls
    - params: [{{ pillar.target }}/params.sls]
    - root_dir: {{ pillar.target }}/idem
    - require:
      - file: {{ pillar.target }}/params.sls
