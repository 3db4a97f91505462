#!yaml
# Action chain 123 on M1, chunk 2 of 2
action_A3:
  module.run:
  - state.apply:
    - mods:
      - channels

finish_action_chain:
  module.run:
  - actionchains.finish:
    - chunk: actionchain_123_M1_2
  - require:
    - module: action_A3
