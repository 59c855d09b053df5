# SPDX-License-Identifier: MIT
# What bash offers: completion.bash FILE [PACKAGE] <LINES. FILE is the completion, PACKAGE the
# script of bash-completion. For each line prints "> LINE" and the words offered, one a line. Words
# come apart as readline has it: at blanks and =.
shopt -s extglob progcomp
# shellcheck source=/dev/null
[ $# = 1 ] || . "$2"
# shellcheck source=/dev/null
. "$1"
# There is no line editor that could take it.
compopt() { :; }
complete -W inner-word spark-made-up

while IFS= read -r line; do
	echo "> $line"
	read -ra COMP_WORDS <<<"${line//=/ = }"
	[[ $line != *' ' ]] || COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line} COMP_TYPE=9 COMP_KEY=9
	_sparkctl sparkctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	printf '%s\n' "${COMPREPLY[@]}"
done
