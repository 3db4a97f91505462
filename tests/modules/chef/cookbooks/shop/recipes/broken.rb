nosuch 'resource'
