# A service and a zone of our own in the permanent configuration of firewalld.

firewall-offline-cmd --new-service=saltern
firewall-offline-cmd --service=saltern --add-port=8081/tcp
firewall-offline-cmd --service=saltern --add-protocol=esp
firewall-offline-cmd --new-zone=saltern
firewall-offline-cmd --zone=public --add-service=http
