provides :pair
unified_mode true

action :make do
  directory 'inner directory' do
    path "#{node['target']}/pair"
  end
  file 'inner file' do
    path "#{node['target']}/pair/file"
    content "inner\n"
  end
end
