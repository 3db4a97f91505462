include:
  - chrony.package
  - chrony.config
  - chrony.service
