/* SPDX-License-Identifier: MIT */
/* cli/symbols/closure, elf_dynamic and loader_cache: on programs that the compiler has just made. */
#include <check.h>
#include <errno.h>
#include <limits.h>

#include "built.h"
#include "cli/symbols/closure.h"
#include "suite.h"

static struct closure closure;

static void setup(void)
{
	unsetenv("LD_PRELOAD");
	unsetenv("LD_LIBRARY_PATH");
}

static void teardown(void)
{
	closure_close(&closure);
}

static int closure_of(const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", built_dir, file);
	return closure_open(&closure, path);
}

static const char *object_file(size_t i)
{
	const char *slash = strrchr(closure.objects[i].path, '/');

	return slash ? slash + 1 : closure.objects[i].path;
}

/* "library<caller:kinds" of each call of a symbol. */
static const char *calls_of(const char *symbol)
{
	static char text[1024];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < closure.ncalls; i++) {
		const struct closure_call *call = &closure.calls[i];

		if (strcmp(call->symbol, symbol) != 0)
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s<%s:%s%s%s%s", used ? " " : "",
			object_file(call->library), object_file(call->caller), call->kinds & ELF_SLOT_PLT ? "p" : "",
			call->kinds & ELF_SLOT_GOT ? "g" : "", call->function->chosen ? "i" : "", call->variant ? "v" : "");
	}
	return text;
}

static void files_make(void)
{
	built_write("b.c", "static int one(int x) { return x; } static int (*pick(void))(int) { return one; }\n"
			   "int b_one(int x) { return x + 1; } int b_two(int x) { return x + 2; } int b_data = 5;\n"
			   "int b_picked(int) __attribute__((ifunc(\"pick\")));\n"
			   "__attribute__((visibility(\"hidden\"))) int b_hidden(void) { return 0; }\n");
	built_write("a.c", "int b_one(int), b_picked(int); int a_one(int x) { return b_one(x); }\n"
			   "int a_own(int x) { return a_one(x) + b_picked(x); }\n"
			   "int b_two(int x) { return x; }\n");
	built_write("main.c", "#include <stdio.h>\nint a_own(int), b_two(int), a_one(int); extern int b_data;\n"
			      "int (*volatile pointer)(int);\n"
			      "int main(void) { pointer = a_one; return printf(\"%d\\n\", a_own(1) + b_two(2) + b_data) < 0; }\n");
	built_run("mkdir sub other; ${CC:-cc} -O2 -fPIC -shared -Wl,-soname,libb.so.1 -o sub/libb.so.1 b.c");
	built_run("${CC:-cc} -O2 -fPIC -fsemantic-interposition -shared -Wl,-z,lazy -Wl,-rpath,'$ORIGIN/sub' -o liba.so a.c "
		  "sub/libb.so.1");
	built_run("${CC:-cc} -O2 -fPIE -pie -fno-builtin -Wl,-z,lazy -Wl,-rpath,'${ORIGIN}:$ORIGIN/sub' -o main main.c -L. -la sub/libb.so.1 "
		  "-Wl,-rpath-link,sub -Wl,--disable-new-dtags");
	built_run("${CC:-cc} -O2 -fPIE -pie -fno-builtin -fno-plt -Wl,-z,now -Wl,-rpath,'$ORIGIN:$ORIGIN/sub' -o now main.c -L. -la "
		  "sub/libb.so.1 -Wl,-rpath-link,sub");
	/* The loader itself finds all of it. */
	built_run("./main && ./now");
}

/* ---- what calls what */

START_TEST(test_calls)
{
	ck_assert_int_eq(closure_of("main"), 0);
	ck_assert_str_eq(calls_of("a_own"), "liba.so<main:p");
	/* The address is taken; its own library calls it through a slot as well. */
	ck_assert_str_eq(calls_of("a_one"), "liba.so<main:g");
	ck_assert_str_eq(calls_of("b_one"), "libb.so.1<liba.so:p");
	ck_assert_str_eq(calls_of("b_picked"), "libb.so.1<liba.so:pi");
	/* The first in the order of the search has it. */
	ck_assert_str_eq(calls_of("b_two"), "liba.so<main:p");
	ck_assert_str_eq(calls_of("b_data"), "");
	ck_assert_str_eq(calls_of("b_hidden"), "");
	ck_assert_str_eq(calls_of("printf"), "libc.so.6<main:p");
	ck_assert_uint_eq(closure.nmissing, 0);
}
END_TEST

START_TEST(test_no_plt)
{
	ck_assert_int_eq(closure_of("now"), 0);
	ck_assert_str_eq(calls_of("a_own"), "liba.so<now:g");
	ck_assert_str_eq(calls_of("printf"), "libc.so.6<now:g");
}
END_TEST

/* Without sections, the hashes tell how many symbols there are. */
START_TEST(test_no_sections)
{
	static const char *const files[] = { "main", "liba.so", "sub/libb.so.1" };
	char path[256], zero[8] = { 0 };
	FILE *file;

	built_run("mkdir -p bare/sub; cp main liba.so bare; cp sub/libb.so.1 bare/sub; strip bare/main bare/*.so");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/bare/%s", built_dir, files[i]);
		file = fopen(path, "r+");
		ck_assert_ptr_nonnull(file);
		fseek(file, offsetof(Elf64_Ehdr, e_shoff), SEEK_SET);
		fwrite(zero, 1, 8, file);
		fseek(file, offsetof(Elf64_Ehdr, e_shnum), SEEK_SET);
		fwrite(zero, 1, 4, file);
		fclose(file);
	}
	ck_assert_int_eq(closure_of("bare/main"), 0);
	ck_assert_str_eq(calls_of("a_own"), "liba.so<main:p");
	ck_assert_str_eq(calls_of("b_picked"), "libb.so.1<liba.so:pi");
	ck_assert_str_eq(calls_of("printf"), "libc.so.6<main:p");
}
END_TEST

/* ---- where libraries are */

START_TEST(test_places)
{
	char list[600];

	/* RPATH is before the environment, RUNPATH behind it. */
	built_run("cp liba.so sub/libb.so.1 other");
	snprintf(list, sizeof(list), "/nowhere:%s/other", built_dir);
	setenv("LD_LIBRARY_PATH", list, 1);
	ck_assert_int_eq(closure_of("main"), 0);
	ck_assert_ptr_null(strstr(closure.objects[1].path, "/other/"));
	closure_close(&closure);
	ck_assert_int_eq(closure_of("now"), 0);
	ck_assert_ptr_nonnull(strstr(closure.objects[1].path, "/other/"));
	closure_close(&closure);
	/* A file that is none of this machine is passed over. */
	built_run("echo none >other/liba.so");
	ck_assert_int_eq(closure_of("now"), 0);
	ck_assert_ptr_null(strstr(closure.objects[1].path, "/other/"));
	closure_close(&closure);
	snprintf(list, sizeof(list), "%s/sub/libb.so.1 nothing.so", built_dir);
	setenv("LD_PRELOAD", list, 1);
	ck_assert_int_eq(closure_of("main"), 0);
	ck_assert_str_eq(calls_of("b_two"), "libb.so.1<main:p");
	ck_assert_str_eq(closure.missing[0], "nothing.so");
}
END_TEST

START_TEST(test_missing)
{
	built_run("mkdir -p alone; cp now liba.so alone");
	ck_assert_int_eq(closure_of("alone/now"), 0);
	ck_assert_uint_eq(closure.nmissing, 1);
	ck_assert_str_eq(closure.missing[0], "libb.so.1");
	ck_assert_str_eq(calls_of("b_one"), "");
	ck_assert_str_eq(calls_of("a_own"), "liba.so<now:g");
}
END_TEST

START_TEST(test_damaged_library)
{
	built_run("mkdir -p cut/sub; cp now cut; cp sub/libb.so.1 cut/sub; head -c 700 liba.so >cut/liba.so");
	ck_assert_int_eq(closure_of("cut/now"), 0);
	ck_assert_str_eq(calls_of("a_own"), "");
	ck_assert_str_eq(calls_of("printf"), "libc.so.6<now:g");
}
END_TEST

START_TEST(test_no_program)
{
	built_run("${CC:-cc} -static -o fixed main.c a.c b.c 2>/dev/null || ${CC:-cc} -nostdlib -static -r -o fixed b.c");
	ck_assert_int_eq(closure_of("fixed"), -ENOENT);
	ck_assert_int_eq(closure_of("main.c"), -ENOEXEC);
	ck_assert_int_eq(closure_of("nothing"), -ENOENT);
	ck_assert_int_eq(closure_of("sub"), -ENOEXEC);
}
END_TEST

/* arm64: what its compilers say of functions that take vectors. */
START_TEST(test_variant)
{
	struct elf_dynamic dynamic;
	struct elf_file elf;
	u32 variant = 0;
	FILE *file;
	char path[256];

	built_write("v.s", ".text\n.global plain, vector\n.variant_pcs vector\n.type plain,%function\n.type vector,%function\n"
			   "plain: b outside\nvector: b other\n.variant_pcs other\n");
	built_run("aarch64-linux-gnu-gcc -shared -nostdlib -o v.so v.s");
	snprintf(path, sizeof(path), "%s/v.so", built_dir);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(elf_file_open(&elf, fileno(file)), 0);
	ck_assert_int_eq(elf_dynamic_read(&dynamic, &elf), 0);
	ck_assert_uint_eq(dynamic.nfunctions, 2);
	for (size_t i = 0; i < dynamic.nfunctions; i++) {
		ck_assert_int_eq(dynamic.functions[i].variant, !strcmp(dynamic.functions[i].name, "vector"));
		variant += dynamic.functions[i].variant;
	}
	ck_assert_uint_eq(variant, 1);
	ck_assert_uint_eq(dynamic.nslots, 2);
	for (size_t i = 0; i < dynamic.nslots; i++) {
		ck_assert_uint_eq(dynamic.slots[i].kinds, ELF_SLOT_PLT);
		ck_assert_int_eq(dynamic.slots[i].variant, !strcmp(dynamic.slots[i].name, "other"));
	}
	elf_dynamic_free(&dynamic);
	elf_file_close(&elf);
	fclose(file);
}
END_TEST

/* ---- the loader's cache */

START_TEST(test_cache)
{
	static const u32 bytes[] = { 2, 12, 0, 0, 0, 0, 0, 0x303, 96, 98, 0, 2, 0, 0x303, 96, 101, 0, 0, 0 };
	u8 cache[120] = "glibc-ld.so.cache1.1";
	char path[16];
	u32 at = 0;

	memcpy(cache + 20, bytes, sizeof(bytes));
	memcpy(cache + 96, "z\0/a\0/b", 8);
	ck_assert(loader_cache_find(cache, 104, "z", &at, path, sizeof(path)));
	ck_assert_str_eq(path, "/b");
	ck_assert(!loader_cache_find(cache, 104, "z", &at, path, sizeof(path)));
	at = 0;
	ck_assert(!loader_cache_find(cache, 104, "y", &at, path, sizeof(path)));
	/* Cut in the rows, and in the texts. */
	for (size_t size = 0; size < 104; size++) {
		at = 0;
		while (loader_cache_find(cache, size, "z", &at, path, sizeof(path)))
			ck_assert_str_eq(path, "");
	}
}
END_TEST

START_TEST(test_nothing)
{
}
END_TEST

int main(void)
{
	bool arm64 = system("aarch64-linux-gnu-gcc --version >/dev/null 2>&1") == 0;
	TCase *tests = tcase_create("closure");
	TCase *more = tcase_create(arm64 ? "arm64" : "arm64 # SKIP compilers: not here: one for arm64");
	int status;

	built_open();
	files_make();
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_calls);
	tcase_add_test(tests, test_no_plt);
	tcase_add_test(tests, test_no_sections);
	tcase_add_test(tests, test_places);
	tcase_add_test(tests, test_missing);
	tcase_add_test(tests, test_damaged_library);
	tcase_add_test(tests, test_no_program);
	tcase_add_test(tests, test_cache);
	if (arm64)
		tcase_add_test(more, test_variant);
	else
		tcase_add_test(more, test_nothing);
	status = suite_run_with("closure", tests, more);
	built_close();
	return status;
}
