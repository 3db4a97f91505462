# A repository with two commits, a branch and a tag, and a working copy of it.

export GIT_AUTHOR_DATE='2026-01-01T12:00:00Z' GIT_COMMITTER_DATE='2026-01-01T12:00:00Z'
git config --system user.name 'Ada Lovelace'
git config --system user.email ada@example.org
git config --system init.defaultBranch main
git config --system safe.directory '*'
git config --system advice.detachedHead false
git init -q /tmp/work
cd /tmp/work
echo 'set -o vi' >bashrc
git add bashrc
git commit -qm 'First settings'
git tag v1.0
git branch trial
echo 'syntax on' >vimrc
git add vimrc
git commit -qm 'Settings of vim'
git clone -q --bare /tmp/work /srv/git/dotfiles.git
cd /
rm -r /tmp/work
git clone -q file:///srv/git/dotfiles.git /srv/checkout
git -C /srv/checkout config core.autocrlf false
