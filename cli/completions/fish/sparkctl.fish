# SPDX-License-Identifier: MIT
# fish completion of sparkctl. It knows no command and no option: as it is loaded, it asks sparkctl
# (the one that is being completed, else the one in PATH) for its rows (help --dump-options).

function __sparkctl_ask
    set -l program (commandline -opc)[1]
    command -q -- "$program"; or set program sparkctl
    set -l said (command $program help $argv 2>/dev/null </dev/null); and string join \n -- $said
end

# The command that was given, by its name or the only one that begins so.
function __sparkctl_command
    set -l word (commandline -opc)[2]
    test -n "$word"; or return
    contains -- $word $__sparkctl_commands; and echo $word; and return
    set -l found (string match -r -- '^'(string escape --style=regex -- $word)'.*' $__sparkctl_commands)
    test (count $found) -eq 1; and echo $found
end

function __sparkctl_wants_command
    test (count (commandline -opc)) -eq 1
end

# Whether the word after this one is its value: valued holds "--name" and "-letter" of such options.
function __sparkctl_takes_next -a word
    set -l valued $argv[2..]
    switch $word
        case '--*=*'
            return 1
        case '--*'
            string match -q -- $word'*' $valued
        case '*'
            contains -- -(string sub -s -1 -- $word) $valued
    end
end

# The operands before the cursor, "--" too if it was given; where a program follows, all from there
# on.
function __sparkctl_operands -a command
    set -l valued __sparkctl_valued_$command
    set -l several __sparkctl_several_$command
    set -l words (commandline -opc)[3..]
    while set -q words[1]
        set -l word $words[1]
        if test "$word" = --; or begin
                contains -- $command $__sparkctl_launchers; and not string match -q -- '-?*' $word
            end
            string join \n -- $words
            return
        else if not string match -q -- '-?*' $word
            string join \n -- $word
        else if __sparkctl_takes_next $word $$valued
            set -e words[1]
            for more in (string match -- $word $$several)
                set -e words[1]
            end
        end
        set -e words[1]
    end
end

# Whether options of the command may stand at the cursor.
function __sparkctl_wants_option -a command
    contains -- $command (__sparkctl_command); or return
    set -l operands (__sparkctl_operands $command)
    contains -- $command $__sparkctl_launchers; and return (count $operands)
    not contains -- -- $operands
end

# __sparkctl_wants_operand COMMAND N [more]: whether operand N, or one after it, stands at the
# cursor
function __sparkctl_wants_operand -a command n more
    contains -- $command (__sparkctl_command); or return
    set -l operands (string match -v -- -- (__sparkctl_operands $command))
    test (count $operands) -eq $n; or test -n "$more" -a (count $operands) -gt $n
end

# The program that a command starts, completed as it were alone.
function __sparkctl_program
    set -l words (__sparkctl_operands (__sparkctl_command)) (commandline -ct)
    test "$words[1]" = --; and set -q words[2]; and set -e words[1]
    string match -q -- '-*' $words[1]; or __fish_complete_subcommand --commandline $words
end

function __sparkctl_recordings
    set -l paths (__fish_complete_path (commandline -ct))
    string match -r -- '.*(?:\.spark|/)(?:\t.*)?$' $paths; or string join \n -- $paths
end

# Names of metrics, the last of several with commas between.
function __sparkctl_metrics
    set -l typed (commandline -ct | string replace -r -- '^--[^=]*=' '' | string replace -rf -- ',[^,]*$' ',')
    string join \n -- "$typed"(__sparkctl_ask --dump-metrics)
end

# __sparkctl_add_option COMMAND FIELD...: of one row
function __sparkctl_add_option -a command name letter kind metavar words
    set -l how -c sparkctl -n "__sparkctl_wants_option $command" -l $name -d $argv[8]
    test -z "$letter"; or set -a how -s $letter
    if not contains -- $kind flag count
        set -ga __sparkctl_valued_$command --$name -$letter
        for word in (string split ' ' -- $metavar | string match -v '[*')[2..]
            set -ga __sparkctl_several_$command --$name -$letter
        end
        switch $metavar
            case FILE
                set -a how -r -F
            case GROUP
                set -a how -x -a '(__sparkctl_ask --dump-groups)'
            case METRIC
                set -a how -x -a '(__sparkctl_ask --dump-metrics)'
            case METRICS
                set -a how -x -a '(__sparkctl_metrics)'
            case '*'
                set -a how -x -a (string replace -a , ' ' -- "$words")
        end
    end
    complete $how
end

# __sparkctl_add_operands COMMAND USAGE: recordings, commands, or one of the words in it, by their
# places
function __sparkctl_add_operands -a command usage
    set -l n 0
    for place in (string replace -a '[OPTION...]' '' -- $usage | string match -ra '[^\s\[\]]+')
        set -l how -c sparkctl -k -n "__sparkctl_wants_operand $command $n"
        switch $place
            case 'FILE...'
                complete -c sparkctl -k -n "__sparkctl_wants_operand $command $n more" -a '(__sparkctl_recordings)'
            case FILE
                complete $how -a '(__sparkctl_recordings)'
            case HISTORY
                complete $how -F
            case COMMAND
                complete $how -a "$__sparkctl_commands"
            case '*'
                string match -qr '^[a-z]' -- $place
                and complete $how -a (string replace -a '|' ' ' -- $place)
        end
        set n (math $n + 1)
    end
end

set -g __sparkctl_commands
set -g __sparkctl_launchers
complete -c sparkctl -e
complete -c sparkctl -f
complete -c sparkctl -n __sparkctl_wants_command -s h -l help -d 'show the commands and end'
complete -c sparkctl -n __sparkctl_wants_command -s V -l version -d 'show the version and end'
for row in (__sparkctl_ask --dump-options)
    set -l field (string split \t -- $row)
    set -a __sparkctl_commands $field[1]
    set -g __sparkctl_usage_$field[1] $field[2]
    set -g __sparkctl_valued_$field[1]
    set -g __sparkctl_several_$field[1]
    complete -c sparkctl -n __sparkctl_wants_command -a $field[1] -d $field[3]
    string match -q -- '*[--] *' $field[2]; and set -a __sparkctl_launchers $field[1]
end
for command in $__sparkctl_commands
    for row in (__sparkctl_ask --dump-options -- $command)
        __sparkctl_add_option $command (string split \t -- $row)
    end
    complete -c sparkctl -n "__sparkctl_wants_option $command" -s h -l help -d 'show the options and end'
    if contains -- $command $__sparkctl_launchers
        complete -c sparkctl -k -n "__sparkctl_wants_operand $command 0 more" -a '(__sparkctl_program)'
    else
        set -l usage __sparkctl_usage_$command
        __sparkctl_add_operands $command $$usage
    end
end
