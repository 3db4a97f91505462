file 'before' do
  path "#{node['target']}/before"
  content "x\n"
end

execute 'fails' do
  command 'echo oh no >&2; exit 3'
  retries 1
  retry_delay 0
end

execute 'never reached' do
  command 'true'
end
