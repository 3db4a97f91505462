file 'motd' do
  path "#{node['target']}/motd"
  content "noon\n"
end

file 'secret' do
  path "#{node['target']}/secret"
  content "hunter2\n"
  sensitive true
end

execute 'guarded' do
  command 'false'
  not_if { true }
end

execute 'notified' do
  command 'true'
  action :nothing
  subscribes :run, 'file[motd]'
end

execute 'ignored' do
  command 'echo why >&2; false'
  ignore_failure true
end

pair 'two'
