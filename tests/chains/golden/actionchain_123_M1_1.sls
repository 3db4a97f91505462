#!yaml
# Action chain 123 on M1, chunk 1 of 2
action_A1:
  pkg.installed:
  - pkgs:
    - hoag-dummy: 1.1-2.1

next_chunk:
  module.run:
  - actionchains.next:
    - chunk: actionchain_123_M1_2
    - after: reboot
  - require:
    - pkg: action_A1

action_A2:
  module.run:
  - system.reboot:
    - at_time: 1
  - require:
    - module: next_chunk

forget_next_chunk:
  module.run:
  - actionchains.finish:
    - chunk: actionchain_123_M1_2
  - onfail:
    - module: action_A2
