# SPDX-License-Identifier: MIT
# What zsh offers: zsh -f completion.zsh FOLDER <LINES. FOLDER holds _sparkctl, LINES are unfinished
# command lines. For each line prints "> LINE" and the words offered, one a line. A real line editor
# in a pty does it; compadd, through which all matches go, tells what they are.
zmodload zsh/zpty zsh/zselect
out=$PWD/zsh.out
err=$PWD/zsh.err
export ZDOTDIR=$PWD/zsh.d
mkdir -p $ZDOTDIR
: >$out >$err
cat >$ZDOTDIR/.zshrc <<END
exec 2>>${(q)err}
PS1= PS2= out=${(q)out} fpath=(${(q)1} \$fpath)
autoload -Uz compinit
compinit -D -u
bindkey '^I' complete-word
setopt nobeep
zstyle ':completion:*' list-prompt ''
LISTMAX=100000
_made_up() { compadd inner-word }
compdef _made_up spark-made-up
compadd() {
	local -a hits
	[[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] && { builtin compadd "\$@"; return }
	local typed=\$IPREFIX
	builtin compadd -O hits "\$@"
	((\$#hits)) && print -rl -- \$typed\$^hits >>\$out
	builtin compadd "\$@"
}
line_done() {
	comppostfuncs=(line_done)
	print . >>\$out
}
line_done
END

# wait_for COUNT: until so many lines are done
wait_for() {
	local i
	for ((i = 0; i < 3000; i++)); do
		zpty -r -t pty >/dev/null
		[[ $(grep -c '^\.$' $out) -ge $1 ]] && return
		zselect -t 1
	done
	print -u2 "no answer from zsh"
	exit 1
}

zpty pty zsh -d -i
wait_for 1
n=1
while IFS= read -r line; do
	print -r -- "> $line" >>$out
	zpty -w -n pty "$line"$'\t'
	wait_for $((++n))
	zpty -w -n pty $'\C-u'
done
zpty -d pty
grep -v '^\.$' $out
cat $err >&2
