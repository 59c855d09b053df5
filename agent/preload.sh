#!/bin/sh
# SPDX-License-Identifier: MIT
# preload.sh DIR CPU: makes DIR/not-libasan.so, the folder by which sparkctl names the agent in LD_PRELOAD, and the
# library of other tools' markers:
#   DIR/not-libasan.so/$PLATFORM/libsparkagent.so
# A 64-bit loader of glibc finds them there, whatever it takes for its $PLATFORM (ld.so(8)), and a
# 32-bit one a library with nothing in it: a file that is missing or of another class would make it complain
# on the program's standard error. cli/session/environment.c tells what the folder's name is good for.
set -eu

dir=$1/not-libasan.so
files='libsparkagent.so libspark-markers.so'

case $2 in
x86_64) own='x86_64 haswell xeon_phi' small='i386 i486 i586 i686' ;;
aarch64*) own='aarch64 aarch64_be' small= ;;
*) own=$2 small= ;;
esac

# Little-endian words of 32 bits.
words() {
	for word; do
		for shift in 0 8 16 24; do
			# shellcheck disable=SC2059 # the format is the byte
			printf "\\$(printf %03o $((word >> shift & 255)))"
		done
	done
}

# An ELF file of 232 bytes (elf(5)): header, program headers at 52, dynamic section at 148, hash table at 196,
# the null symbol at 212, an empty string at 228. The stack stays without the right to execute.
empty_library() {
	printf '\177ELF\001\001\001\000\000\000\000\000\000\000\000\000\003\000\003\000'	# ELFCLASS32, ET_DYN, EM_386
	words 1 0 52 0 0 0x200034 0x280003 0
	words 1 0 0 0 232 232 6 4096			# PT_LOAD, PF_R | PF_W: older loaders write to it
	words 2 148 148 148 48 48 4 4			# PT_DYNAMIC
	words 0x6474e551 0 0 0 0 0 6 16			# PT_GNU_STACK
	words 4 196 5 228 6 212 10 1 11 16 0 0		# DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SYMENT
	words 1 1 0 0
	words 0 0 0 0
	words 0
}

rm -rf "$dir"
mkdir -p "$dir"
# Where a shell took the dollar for one of its own.
for file in $files; do
	ln -s ../"$file" "$dir/$file"
done
for platform in $own; do
	mkdir "$dir/$platform"
	for file in $files; do
		ln -s ../../"$file" "$dir/$platform/$file"
	done
done
[ -n "$small" ] || exit 0
empty_library >"$dir/empty"
for platform in $small; do
	mkdir "$dir/$platform"
	for file in $files; do
		cp "$dir/empty" "$dir/$platform/$file"
		chmod 644 "$dir/$platform/$file"
	done
done
rm "$dir/empty"
