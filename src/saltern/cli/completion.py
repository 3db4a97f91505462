"""``saltern completion``: the script that teaches a shell to complete saltern's command lines."""

from __future__ import annotations

import sys

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse

BASH = r"""# saltern: completion for bash
_saltern() {
    local IFS=$'\n' found
    local before=("${COMP_WORDS[@]:1:COMP_CWORD-1}") current=${COMP_WORDS[COMP_CWORD]}
    found=$(saltern completion bash --words "${before[@]}" -- "$current" 2>/dev/null)
    COMPREPLY=($(printf '%s\n' "$found" | grep -v '^<files>$'))
    case $'\n'"$found"$'\n' in
        *$'\n<files>\n'*)
            compopt -o filenames 2>/dev/null
            COMPREPLY+=($(compgen -f -- "$current"))
            ;;
    esac
}
complete -F _saltern saltern
"""
ZSH = r"""#compdef saltern
# saltern: completion for zsh
_saltern() {
    local -a found before
    before=("${(@)words[2,CURRENT-1]}")
    found=("${(@f)$(saltern completion zsh --words "${before[@]}" -- "${words[CURRENT]}" 2>/dev/null)}")
    if (( ${found[(Ie)<files>]} )); then
        _files
        found=("${(@)found:#<files>}")
    fi
    (( ${#found} )) && compadd -a -- found
}
if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
    _saltern "$@"
else
    compdef _saltern saltern
fi
"""
FISH = r"""# saltern: completion for fish
function __saltern_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    for one in (saltern completion fish --words $before[2..-1] -- "$current" 2>/dev/null)
        if test "$one" = '<files>'
            __fish_complete_path "$current"
        else
            echo $one
        end
    end
end
complete -c saltern -f -a '(__saltern_complete)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
FILES_SIGN = "<files>"  # asks the scripts to complete file names

LINE = CommandLine(
    command="completion",
    about="Print the script that completes commands, options, SLS names and runs in a shell.",
    epilog="""\
bash:  saltern completion bash > /etc/bash_completion.d/saltern
zsh:   saltern completion zsh > ~/.zfunc/_saltern      (with ~/.zfunc in fpath)
fish:  saltern completion fish > ~/.config/fish/completions/saltern.fish""",
    words=(Word(dest="shell", metavar="SHELL", choices=tuple(SCRIPTS), help=", ".join(SCRIPTS)),),
    rows=(
        Row(
            flag="--words",
            dest="words",
            metavar="WORD",
            default=None,
            help="for the scripts: the words before the cursor, then --, then the word at the cursor",
        ),
    ),
)


def main(argv: list[str]) -> int:
    if len(argv) > 1 and argv[1] == "--words":
        return _complete(argv[2:])
    args = parse(LINE, argv)
    print(SCRIPTS[args.shell], end="")
    return exits.OK


def _complete(words: list[str]) -> int:
    from saltern.cli.candidates import FILES, candidates

    if len(words) < 2 or words[-2] != "--":
        words = [*words, "--", ""] if not words or words[-1] != "--" else [*words, ""]
    for one in dict.fromkeys(candidates(words[:-2], words[-1])):
        print(FILES_SIGN if one == FILES else one)
    sys.stdout.flush()
    return exits.OK
