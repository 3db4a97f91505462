"""Which systems there are: rosters of Salt, inventories of Ansible, configurations of ssh, addresses."""
