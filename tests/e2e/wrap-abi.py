#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions of random signatures, and calls that check what arrives and what comes back.

Usage: wrap-abi.py SEED FUNCTIONS DIRECTORY [VECTOR_BYTES]

Writes types.h, library.c and program.c. The same seed gives the same files. The program calls each
function `rounds` times (its first argument) and prints how many calls were wrong.
"""
import random
import sys

seed, count, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
vectors = int(sys.argv[4]) if len(sys.argv) > 4 else 16
pick = random.Random(seed)

# Name in C, bytes that count (0: sizeof), promoted alike when passed to "...".
TYPES = [("signed char", 0, False), ("short", 0, False), ("int", 0, True), ("long", 0, True), ("u128", 0, True),
	 ("float", 0, False), ("double", 0, True), ("long double", 10, True), ("_Complex float", 0, True),
	 ("_Complex double", 0, True), ("pointer", 0, True), ("_Bool", 0, False)]
TYPES += [(name, 0, True) for name in ("struct bytes1", "struct mixed", "struct doubles", "struct longs3", "struct floats3",
					"struct small", "struct bytes17", "struct nested")]
TYPES += [("v%d" % n, 0, True) for n in (16, 32, 64) if n <= vectors]

HEADER = r"""
#include <complex.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned __int128 u128;
typedef void *pointer;
struct bytes1 { char c[1]; };
struct mixed { long l; double d; };
struct doubles { double d[2]; };
struct longs3 { long l[3]; };
struct floats3 { float f[3]; };
struct small { int i; float f; long l; };
struct bytes17 { char c[17]; };
struct nested { struct floats3 f; int i; };
typedef long v16 __attribute__((vector_size(16)));
typedef long v32 __attribute__((vector_size(32)));
typedef long v64 __attribute__((vector_size(64)));
static inline uint64_t mix(uint64_t h, const void *p, size_t n)
{
	const unsigned char *b = p;
	while (n--)
		h = (h ^ *b++) * 0x100000001b3ULL;
	return h;
}
static inline uint64_t next(uint64_t *s)
{
	*s = *s * 6364136223846793005ULL + 1442695040888963407ULL;
	return *s >> 11;
}
#define INTEGERS(x, s) do { for (size_t k_ = 0; k_ < sizeof(x); k_++) ((unsigned char *)&(x))[k_] = (unsigned char)next(s); } while (0)
extern uint64_t arrived;
"""


def fill(kind, name, state):
	"""A value without bit patterns that loading a number may change."""
	if kind in ("float", "double", "long double"):
		return "%s = (%s)(int32_t)next(%s) / 8;" % (name, kind, state)
	if kind.startswith("_Complex"):
		return "%s = (int16_t)next(%s) + (int16_t)next(%s) * I;" % (name, state, state)
	if kind == "_Bool":
		return "%s = next(%s) & 1;" % (name, state)
	if kind in ("struct doubles", "struct floats3"):
		f = "d" if kind == "struct doubles" else "f"
		return " ".join("%s.%s[%d] = (int16_t)next(%s);" % (name, f, i, state) for i in range(2 if f == "d" else 3))
	if kind == "struct mixed":
		return "%s.l = (long)next(%s); %s.d = (int16_t)next(%s);" % (name, state, name, state)
	if kind == "struct small":
		return "%s.i = (int)next(%s); %s.f = (int16_t)next(%s); %s.l = (long)next(%s);" % (name, state, name, state, name, state)
	if kind == "struct nested":
		return " ".join("%s.f.f[%d] = (int16_t)next(%s);" % (name, i, state) for i in range(3)) + " %s.i = (int)next(%s);" % (name, state)
	return "INTEGERS(%s, %s);" % (name, state)


def size(kind):
	return "10" if kind[0] == "long double" and "x86_64" in sys.argv else "sizeof(%s)" % kind[0] if not kind[1] else \
		"(sizeof(long double) == 16 && __LDBL_MANT_DIG__ == 64 ? 10 : sizeof(long double))"


library, program = ['#include "types.h"', "uint64_t arrived;"], ['#include "types.h"']
calls = []
for n in range(count):
	fixed = [pick.choice(TYPES) for _ in range(pick.choice((0, 1, 2, 3, 5, 8, 12, 20, 30, 40)))]
	loose = []
	if fixed and pick.random() < 0.3:
		loose = [pick.choice([t for t in TYPES if t[2]]) for _ in range(pick.randrange(1, 10))]
	back = pick.choice(TYPES + [("void", 0, False)])
	last = fixed[-1][0] if fixed else ""
	if loose and last in ("float", "short", "signed char", "_Bool"):
		fixed[-1] = ("int", 0, True)
	parameters = ", ".join("%s a%d" % (t[0], i) for i, t in enumerate(fixed)) + (", ..." if loose else "")
	signature = "%s f%d(%s)" % (back[0], n, parameters or "void")
	library.append(signature + "\n{\n\tuint64_t h = %d, s = %d;" % (n, n * 77 + 5))
	for i, t in enumerate(fixed):
		library.append("\th = mix(h, &a%d, %s);" % (i, size(t)))
	if loose:
		library.append("\tva_list ap;\n\tva_start(ap, a%d);" % (len(fixed) - 1))
		for t in loose:
			library.append("\t{ %s v = va_arg(ap, %s); h = mix(h, &v, %s); }" % (t[0], t[0], size(t)))
		library.append("\tva_end(ap);")
	library.append("\tarrived = h;")
	if back[0] != "void":
		library.append("\t%s r; memset(&r, 0, sizeof(r)); %s return r;" % (back[0], fill(back[0], "r", "&s")))
	else:
		library.append("\t(void)s;")
	library.append("}")
	program.append(signature + ";")
	program.append("static int call%d(uint64_t s)\n{\n\tuint64_t h = %d, b = %d;\n\tint wrong = 0;" % (n, n, n * 77 + 5))
	names = []
	for i, t in enumerate(fixed + loose):
		program.append("\t%s a%d; memset(&a%d, 0, sizeof(a%d)); %s h = mix(h, &a%d, %s);" % (
			t[0], i, i, i, fill(t[0], "a%d" % i, "&s"), i, size(t)))
		names.append("a%d" % i)
	call = "f%d(%s)" % (n, ", ".join(names))
	if back[0] == "void":
		program.append("\t(void)b; %s;" % call)
	else:
		program.append("\t%s want, got; memset(&want, 0, sizeof(want)); %s got = %s; wrong |= 2 * !!memcmp(&got, &want, %s);" % (
			back[0], fill(back[0], "want", "&b"), call, size(back)))
	program.append("\twrong |= arrived != h;\n\tif (wrong)\n\t\tprintf(\"f%d %s: %%d\\n\", wrong);\n\treturn wrong != 0;\n}" % (n, parameters.replace("%", "%%")))
	calls.append("call%d" % n)
program.append("static int (*const calls[])(uint64_t) = { %s };" % ", ".join(calls))
program.append("""int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, wrong = 0;

	for (int r = 0; r < rounds; r++)
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
			wrong += calls[i]((uint64_t)r * 1000003 + i);
	printf("%d wrong\\n", wrong);
	return wrong != 0;
}""")
for name, text in (("types.h", [HEADER]), ("library.c", library), ("program.c", program)):
	with open("%s/%s" % (folder, name), "w", encoding="ascii") as f:
		f.write("\n".join(text) + "\n")
