/* SPDX-License-Identifier: MIT */
/*
 * cli/symbols/call_words: functions of random parameters are compiled, and tell themselves, when they are called,
 * which of their parameters lie above their frames. Both must agree.
 */
#include <check.h>
#include <errno.h>

#include "built.h"
#include "cli/symbols/call_words.h"
#include "cli/symbols/libdw.h"
#include "suite.h"

#define FUNCTIONS 200u
#define PARAMETERS 24u
#define VARIADIC 16u

/*
 * Each type has a name. Those shorter than a word are left out: compilers copy them from the stack. Behind the first
 * ARM64_TYPES are those that arm64 passes by their addresses.
 */
static const char types_text[] =
	"typedef int c4; typedef long c8; typedef __int128 c16;\n"
	"typedef float f4; typedef double f8; typedef long double f16; typedef _Complex float g4; typedef _Complex double g8;\n"
	"typedef enum { A } e4; typedef const char *const p8; typedef void (*p9)(int);\n"
	"typedef struct { int a; } s4; typedef struct { char a[3]; } s3; typedef struct { long a, b; } s16;\n"
	"typedef struct { double a, b; } d16; typedef struct { float a, b, c; } d12; typedef struct { long a; double b; } m16;\n"
	"typedef struct { float a; int b; float c; } m12; typedef struct { float a[4]; } d4; typedef struct { __int128 a; } i16;\n"
	"typedef struct { int a : 3, b : 7; long c; } b16; typedef union { double a; float b; } u8; typedef union { int a; double b; } u9;\n"
	"typedef struct { s4 a; d12 b; } n16; typedef float v16 __attribute__((vector_size(16)));\n"
	"typedef int v8 __attribute__((vector_size(8))); typedef struct { v16 a; } w16;\n"
	"typedef struct { struct { char a; short b; } a; char c; } n6; typedef struct { p9 a; char *b; } q16;\n"
	"typedef struct { double a, b, c, d; } d32;\n"
	"typedef struct { char a[20]; } l20; typedef struct { long double a; } x16; typedef _Complex long double g16;\n"
	"typedef struct __attribute__((packed)) { char a; long b; } k9; typedef struct { long a[9]; } l72;\n"
	"typedef struct { double a, b, c, d, e; } l40; typedef struct { __int128 a, b; } l32; typedef struct { g8 a; char b; } l24;\n";
static const char *const types[] = { "c4", "c8", "c16", "f4", "f8", "f16", "g4", "g8", "e4", "p8", "p9", "s4", "s3",
				     "s16", "d16", "d12", "m16", "m12", "d4", "i16", "b16", "u8", "u9", "n16", "v16", "v8", "w16",
				     "n6", "q16", "d32", "g16", "x16", "k9", "l20", "l72", "l40", "l32", "l24" };
#define ARM64_TYPES 30u

static u32 random_below(u32 n)
{
	static u64 state = 12345;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(state >> 33) % n;
}

/* f0, f1, ... and a main() that calls each. */
static void program_write(u32 ntypes)
{
	char path[256], values[4096];
	u32 i, k, n;
	FILE *file;

	snprintf(path, sizeof(path), "%s/random.c", built_dir);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "#include <stdio.h>\n%s\nstatic unsigned long end;\nstatic void note(char *cfa, void *a, unsigned long n)\n"
		"{ if ((char *)a >= cfa && (char *)a + n - cfa > (long)end) end = (char *)a + n - cfa; }\n"
		"#define NOTE(a) note(__builtin_dwarf_cfa(), (void *)&a, sizeof(a))\n", types_text);
	for (i = 0; i < FUNCTIONS; i++) {
		const char *result = types[random_below(ntypes)];
		u32 used[PARAMETERS];

		n = random_below(PARAMETERS + 1);
		fprintf(file, "%s fun%u(", result, i);
		for (k = 0; k < n; k++) {
			used[k] = random_below(ntypes);
			fprintf(file, "%s%s a%u", k ? ", " : "", types[used[k]], k);
		}
		fprintf(file, "%s) { end = 0;", n ? "" : "void");
		values[0] = '\0';
		for (k = 0; k < n; k++) {
			fprintf(file, " NOTE(a%u);", k);
			sprintf(values + strlen(values), "%s(%s){ 0 }", k ? ", " : "", types[used[k]]);
		}
		fprintf(file, " printf(\"%%lu\\n\", (end + 7) / 8); return (%s){ 0 }; }\nvoid call%u(void) { fun%u(%s); }\n", result, i,
			i, values);
	}
	fprintf(file, "int main(void) {");
	for (i = 0; i < FUNCTIONS; i++)
		fprintf(file, " call%u();", i);
	fprintf(file, " return 0; }\n");
	ck_assert_int_eq(fclose(file), 0);
}

static u32 words_of(const char *file, const char *symbol)
{
	u64 address = built_symbol(file, symbol);
	u32 words;
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", built_dir, file);
	call_words_find(&(struct call_words){ path, &address, 1, &words, VARIADIC }, UINT64_MAX / 2);
	return words;
}

/* What a function is, for the message. */
static const char *line_of(u32 i)
{
	static char line[8192];
	char command[256];
	FILE *out;

	snprintf(command, sizeof(command), "grep ' fun%u(' %s/random.c", i, built_dir);
	out = popen(command, "r");
	if (!out || !fgets(line, sizeof(line), out))
		line[0] = '\0';
	if (out)
		pclose(out);
	line[strcspn(line, "{")] = '\0';
	return line;
}

/* In the order of their numbers, which is that of their addresses. */
static void addresses_read(u64 *addresses)
{
	unsigned long long address;
	char command[256];
	u32 number;
	FILE *out;

	snprintf(command, sizeof(command), "nm %s/random | sed -n 's/^\\(.*\\) [Tt] fun\\([0-9]*\\)$/\\1 \\2/p'", built_dir);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	while (fscanf(out, "%llx %u", &address, &number) == 2)
		if (number < FUNCTIONS)
			addresses[number] = address;
	ck_assert_int_eq(pclose(out), 0);
	for (number = 1; number < FUNCTIONS; number++)
		ck_assert(addresses[number] > addresses[number - 1]);
}

static bool by_clang(void)
{
	const char *cc = getenv("CC");

	return cc && strstr(cc, "clang");
}

/* All of a file at once, and what it says when it runs. */
static void program_compare(const char *run)
{
	u64 addresses[FUNCTIONS] = { 0 };
	u32 words[FUNCTIONS], want, i, greatest = 0;
	char path[256];
	FILE *said;

	addresses_read(addresses);
	snprintf(path, sizeof(path), "%s/random", built_dir);
	call_words_find(&(struct call_words){ path, addresses, FUNCTIONS, words, VARIADIC }, UINT64_MAX / 2);
	snprintf(path, sizeof(path), "cd %s && %s", built_dir, run);
	said = popen(path, "r");
	ck_assert_ptr_nonnull(said);
	for (i = 0; i < FUNCTIONS; i++) {
		ck_assert_int_eq(fscanf(said, "%u", &want), 1);
		/* Compilers differ about packed structures (k9), and clang about small vectors and what is aligned behind them. */
		ck_assert_msg(words[i] == want || (by_clang() && words[i] + 8 > want && words[i] < want + 40) ||
				      (strstr(line_of(i), "k9 ") && words[i] > want && words[i] < want + 40),
			      "%u words, and it has %u: %s", words[i], want, line_of(i));
		greatest = MAX(greatest, want);
	}
	ck_assert_int_eq(pclose(said), 0);
	ck_assert_uint_gt(greatest, 20);
}

START_TEST(test_native)
{
	program_write(ARRAY_SIZE(types));
	built_run("${CC:-cc} -w -g -O0 -fno-stack-protector -o random random.c");
	program_compare("./random");
}
END_TEST

START_TEST(test_arm64)
{
	program_write(ARM64_TYPES);
	built_run("aarch64-linux-gnu-gcc -w -g -O0 -static -fno-stack-protector -o random random.c");
	program_compare("qemu-aarch64 ./random");
}
END_TEST

/* ---- other cases */

START_TEST(test_cases)
{
	built_write("cases.c", "typedef struct { long a[40]; } big; typedef float v32 __attribute__((vector_size(32)));\n"
			       "int plain(int a) { return a; }\nint more(const char *f, ...) { return *f; }\n"
			       "int last(big a, ...) { return (int)a.a[0]; }\nbig huge(big a, big b, big c, big d) { (void)a; (void)b; (void)c; return d; }\n"
			       "int nine(v32 a, v32 b, v32 c, v32 d, v32 e, v32 f, v32 g, v32 h, v32 i) { return (int)(a[0] + b[0] + c[0] + "
			       "d[0] + e[0] + f[0] + g[0] + h[0] + i[0]); }\n"
			       "struct later; int hidden(int a) __asm__(\"other\"); int hidden(int a) { return a + 77; }\n"
			       "int short_ones(char a, short b, _Bool c, char d, char e, char f, char g, short h) { return a+b+c+d+e+f+g+h; }\n"
			       "int old(a, b, c, d, e, f, g, h, i) int a, b, c, d, e, f, g, h, i; { return a+b+c+d+e+f+g+h+i; }\n"
			       "int main(void) { return 0; }\n");
	built_run("${CC:-cc} -w -g -O2 -o cases cases.c");
	ck_assert_uint_eq(words_of("cases", "plain"), 0);
	ck_assert_uint_eq(words_of("cases", "more"), VARIADIC);
	ck_assert_uint_eq(words_of("cases", "other"), 0);
#if defined(__x86_64__)
	ck_assert_uint_eq(words_of("cases", "last"), 40 + VARIADIC);
	ck_assert_uint_eq(words_of("cases", "huge"), 160);
	/* With AVX one is on the stack; without it all are. */
	ck_assert_uint_eq(words_of("cases", "nine"), 36);
	ck_assert_uint_eq(words_of("cases", "old"), 3);
	ck_assert_uint_eq(words_of("cases", "short_ones"), 2);
#endif
}
END_TEST

START_TEST(test_cxx)
{
	built_write("cases.cc", "struct plain { long a, b, c; }; struct own { long a[9]; own(); own(const own &); ~own(); };\n"
				"extern \"C\" { int value(plain a) { return (int)a.a; } int reference(own a) { return (int)a.a[0]; }\n"
				"int eight(own a, own b, own c, own d, own e, own f, own g, own h) { return 0; } }\n"
				"struct thing { virtual int method(plain a, plain b, int c); virtual ~thing(); };\n"
				"int thing::method(plain a, plain b, int c) { return c; } thing::~thing() { }\n"
				"template<class... T> int pack(T... a) { return sizeof...(a); }\n"
				"template int pack(plain, int, plain);\nint main() { return 0; }\n");
	/* clang leaves out what a class has where its constructor is not. */
	built_run(by_clang() ? "${CXX:-c++} -w -g -fstandalone-debug -O1 -o cases cases.cc" : "${CXX:-c++} -w -g -O1 -o cases cases.cc");
#if defined(__x86_64__)
	ck_assert_uint_eq(words_of("cases", "value"), 3);
	ck_assert_uint_eq(words_of("cases", "reference"), 0);
	ck_assert_uint_eq(words_of("cases", "eight"), 2);
	ck_assert_uint_eq(words_of("cases", "_ZN5thing6methodE5plainS0_i"), 6);
	ck_assert_uint_eq(words_of("cases", "_Z4packIJ5plainiS0_EEiDpT_"), 6);
#endif
	/* Not told: as if it were either. */
	built_run(by_clang() ? "${CXX:-c++} -w -gdwarf-4 -fstandalone-debug -O1 -o cases cases.cc" :
			       "${CXX:-c++} -w -gdwarf-4 -gstrict-dwarf -O1 -o cases cases.cc");
	if (by_clang())
		return;
	ck_assert_uint_ge(words_of("cases", "reference"), 9);
	ck_assert_uint_ge(words_of("cases", "eight"), 72);
}
END_TEST

START_TEST(test_nothing)
{
}
END_TEST

START_TEST(test_no_debug_info)
{
	built_write("bare.c", "int f(int a) { return a; } int main(void) { return 0; }\n");
	built_run("${CC:-cc} -g -o bare bare.c; objcopy --only-keep-debug bare bare.debug; objcopy --strip-debug bare bare2");
	ck_assert_uint_eq(words_of("bare2", "f"), CALL_WORDS_UNKNOWN);
	built_run("mkdir -p .debug; cp bare.debug .debug; objcopy --add-gnu-debuglink=bare.debug bare2 bare3");
	ck_assert_uint_eq(words_of("bare3", "f"), libdw_load() ? 0 : CALL_WORDS_UNKNOWN);
}
END_TEST

int main(void)
{
	/* The compiler is often there without its C library. */
	bool arm64 = system("{ echo 'int main(void) { return 0; }' | aarch64-linux-gnu-gcc -include stdio.h -static -o /dev/null -xc - &&"
			    " qemu-aarch64 --version; } >/dev/null 2>&1") == 0;
	TCase *tests = tcase_create(libdw_load() ? "call_words" : "call_words # SKIP libdw: not built or not installed");
	TCase *more = tcase_create(arm64 ? "arm64" : "arm64 # SKIP compilers: not here: one for arm64, or qemu-aarch64");
	int status;

	built_open();
	tcase_set_timeout(tests, 60);
	tcase_set_timeout(more, 60);
	tcase_add_test(tests, test_no_debug_info);
	if (libdw_load()) {
		tcase_add_test(tests, test_native);
		tcase_add_test(tests, test_cases);
		tcase_add_test(tests, test_cxx);
		if (arm64)
			tcase_add_test(more, test_arm64);
	}
	if (!arm64)
		tcase_add_test(more, test_nothing);
	status = suite_run_with("call_words", tests, more);
	built_close();
	return status;
}
