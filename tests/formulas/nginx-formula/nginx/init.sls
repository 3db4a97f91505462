{#- The whole formula, in the order of its parts. #}
include:
  - .package
  - .config
  - .servers
  - .service
