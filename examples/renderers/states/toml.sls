#!toml
["from-toml"]
"test.nop" = []
