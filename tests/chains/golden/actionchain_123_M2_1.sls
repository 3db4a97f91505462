#!yaml
# Action chain 123 on M2, chunk 1 of 1
action_A3:
  module.run:
  - state.apply:
    - mods:
      - channels

action_A4:
  module.run:
  - state.apply:
    - mods:
      - hardware.profileupdate
  - require:
    - module: action_A3

finish_action_chain:
  module.run:
  - actionchains.finish:
    - chunk: actionchain_123_M2_1
  - require:
    - module: action_A4
