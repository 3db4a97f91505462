shop:
  ansible.playbooks:
    - name: salt://plays/site.yml
    - inventory: salt://plays/hosts.yml
    - extra_vars:
        target: {{ pillar['target'] }}
    - forks: 1

shop-noted:
  file.append:
    - name: {{ pillar['target'] }}/notes
    - text: the playbook changed something
    - onchanges:
      - ansible: shop
