include: [.config, .known_hosts, .auth]
