$base = $facts['target']

file { "${base}/page":
  content => "welcome\n",
  mode    => '0644',
}

file { "${base}/password":
  content => Sensitive("secret\n"),
  mode    => '0600',
}

exec { 'reload':
  command     => '/bin/true',
  refreshonly => true,
  subscribe   => File["${base}/page"],
}

exec { 'a check':
  command => '/bin/false',
  unless  => '/bin/true',
}
