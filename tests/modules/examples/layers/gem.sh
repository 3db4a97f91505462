# One small gem, in a directory that a web server can offer as a source of gems.

mkdir -p /srv/downloads/gems/gems /tmp/tidy/lib
cd /tmp/tidy
echo 'TIDY = true' >lib/tidy.rb
for version in 1.0.0 1.1.0; do
    cat >tidy.gemspec <<END
Gem::Specification.new do |spec|
  spec.name, spec.version, spec.summary, spec.authors = 'tidy', '$version', 'for the examples', ['nobody']
  spec.files = ['lib/tidy.rb']
end
END
    gem build -q tidy.gemspec
done
mv *.gem /srv/downloads/gems/gems/
cd /srv/downloads/gems
gem generate_index -q
rm -r /tmp/tidy
printf -- '---\n:sources:\n- http://localhost:8000/gems/\n- https://rubygems.org/\n:update_sources: true\n' >/etc/gemrc
