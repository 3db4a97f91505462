execute 'quiet' do
  command "echo hunter2; exit 3"
  sensitive true
end
