# The gem, installed.

gem install -q --local --no-document /srv/downloads/gems/gems/tidy-1.1.0.gem
