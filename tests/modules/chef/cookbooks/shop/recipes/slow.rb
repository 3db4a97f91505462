execute 'slow' do
  command "echo $PPID > #{node['target']}/flag; sleep 20"
end

execute 'after' do
  command 'true'
end
