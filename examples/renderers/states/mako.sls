#!mako|yaml
% for number in range(2):
from-mako-${number}:
  test.nop: []
% endfor
