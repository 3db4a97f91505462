"""A real editor: Neovim without a screen, told about the server in the few lines that the guide has."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lsp.editor import write

WEB = """\
nginx:
  pkg.installed: []

/etc/x:
  file.managed:
    - require:
      - pkg: ngnix
      - pkg: nginx
"""
SCRIPT = """\
local result = {}
local server = { name = 'saltern', cmd = { 'saltern', 'lsp' }, root_dir = vim.fn.getcwd() }
local client = vim.lsp.start_client(server)
vim.cmd('edit states/web.sls')
local buffer = vim.api.nvim_get_current_buf()
vim.lsp.buf_attach_client(buffer, client)
local function told() return #vim.diagnostic.get(buffer) > 0 end
vim.wait(30000, told, 50)
for _, one in ipairs(vim.diagnostic.get(buffer)) do
  table.insert(result, one.code .. ' ' .. one.lnum + 1)
end
local function ask(method, line, character)
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    position = { line = line, character = character },
  }
  return vim.lsp.buf_request_sync(buffer, method, params, 30000)[client].result
end
table.insert(result, 'line ' .. ask('textDocument/definition', 7, 15)[1].range.start.line + 1)
table.insert(result, vim.split(ask('textDocument/hover', 4, 8).contents.value, '\\n')[1])
vim.api.nvim_buf_set_lines(buffer, 6, 7, false, {})
vim.wait(30000, function() return not told() end, 50)
table.insert(result, #vim.diagnostic.get(buffer) .. ' left')
vim.fn.writefile({ vim.fn.json_encode(result) }, 'result.json')
vim.cmd('quitall!')
"""


@pytest.mark.skipif(not shutil.which("nvim"), reason="there is no nvim")
def test_neovim_shows_problems_and_finds_definitions(tmp_path: Path) -> None:
    write(tmp_path, {"states/top.sls": "", "states/web.sls": WEB, "try.lua": SCRIPT})
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    subprocess.run(
        ["nvim", "--clean", "--headless", "-n", "-c", "luafile try.lua"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "HOME": str(tmp_path)},
        timeout=100,
        check=True,
        capture_output=True,
    )
    found = json.loads((tmp_path / "result.json").read_text())
    assert found == ["requisite-unknown 7", "line 1", "**file.managed**", "0 left"]
