/* SPDX-License-Identifier: MIT */
/* Names of addresses in programs whose functions and lines are known, built in many ways. */
#include "tests/unit/built.h"

#include <check.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "cli/symbols/demangle.h"
#include "cli/symbols/libdw.h"
#include "tests/unit/suite.h"

static const char source[] = "static volatile int sink;\n"
			     "static inline __attribute__((always_inline)) void leaf(int x)\n"
			     "{\n"
			     "	sink += x;\n"
			     "}\n"
			     "static inline __attribute__((always_inline)) void middle(int x)\n"
			     "{\n"
			     "	leaf(x + 1);\n"
			     "}\n"
			     "__attribute__((noinline)) void outer(int x)\n"
			     "{\n"
			     "	middle(x);\n"
			     "}\n"
			     "int main(void)\n"
			     "{\n"
			     "	outer(3);\n"
			     "	return 0;\n"
			     "}\n";

#define CHAIN "leaf inl.c:4, middle inl.c:8, outer inl.c:12"

static struct spaces *spaces;

static void setup(void)
{
	built_open();
	built_write("inl.c", source);
	spaces = spaces_new();
	ck_assert_ptr_nonnull(spaces);
}

static void teardown(void)
{
	spaces_free(spaces);
	built_close();
}

/* What is expected with debug info, and where this build cannot read it. */
static const char *with_debug(const char *chain, const char *plain)
{
	return libdw_load() ? chain : plain;
}

/* ---- ways to build it ---- */

static const struct way {
	const char *tool;            /* NULL: it is always there */
	const char *line;
} ways[] = {
	{ NULL, "gcc -O2 -g -o inl inl.c" },
	{ NULL, "gcc -O2 -gdwarf-4 -o inl inl.c" },
	{ NULL, "gcc -O2 -gdwarf-5 -o inl inl.c" },
	{ NULL, "gcc -O2 -g -no-pie -o inl inl.c" },
	{ NULL, "gcc -O2 -g -no-pie -Wl,-Ttext-segment=0x10000000 -o inl inl.c" },
	{ NULL, "gcc -O2 -g -static -o inl inl.c" },
	{ NULL, "gcc -O2 -g -static-pie -o inl inl.c" },
	{ NULL, "gcc -O2 -g -ffunction-sections -Wl,-z,noseparate-code -o inl inl.c" },
	{ NULL, "gcc -O2 -g -gz -o inl inl.c" },
	{ NULL, "gcc -O2 -g -gsplit-dwarf -o inl inl.c" },
	{ NULL, "gcc -O2 -gdwarf-4 -gsplit-dwarf -o inl inl.c" },
	{ NULL, "gcc -O2 -g -flto -fno-ipa-cp -o inl inl.c" },
	{ "clang", "clang -O2 -g -o inl inl.c" },
	{ "clang", "clang -O2 -gdwarf-5 -gsplit-dwarf -o inl inl.c" },
	{ "ld.lld", "gcc -O2 -g -fuse-ld=lld -o inl inl.c" },
	{ "ld.lld", "gcc -O2 -g -fuse-ld=lld -no-pie -Wl,-z,separate-code -o inl inl.c" },
	{ "ld.gold", "gcc -O2 -g -fuse-ld=gold -o inl inl.c" },
	{ "dwz", "gcc -O2 -g -o inl inl.c && cp inl inl2 && dwz -m common.dwz inl inl2 && test -f common.dwz" },
};

static bool tool_missing(const char *tool)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null", tool);
	return system(command) != 0;
}

/* The mapping that a loader makes of the code, at another place for what is not bound to one. */
static const char *mapped_names(u64 address)
{
	unsigned long long offset, start, size;
	char command[256], path[64];
	struct space_map map = { .pid = BUILT_PID + 1, .time_ns = 1, .protection = PROT_EXEC, .name = path };
	struct space_place place;
	FILE *out;

	snprintf(path, sizeof(path), "%s/inl", built_dir);
	snprintf(command, sizeof(command), "readelf -lW %s | awk '$1 == \"LOAD\" && / E 0x/ { print $2, $3, $5 }'",
		path);
	out = popen(command, "r");
	if (!out || fscanf(out, "%llx %llx %llx", &offset, &start, &size) != 3)
		ck_abort_msg("no segment of code");
	pclose(out);
	map.offset = offset & ~4095ull;
	map.start = BUILT_START + (start & ~4095ull);
	map.length = ALIGN_UP(start + size, 4096) - (start & ~4095ull);
	ck_assert_int_eq(spaces_map(spaces, &map), 0);
	ck_assert(spaces_find(spaces, BUILT_PID + 1, 2, BUILT_START + address, &place));
	ck_assert_uint_eq(place.address, address);
	return built_names(place.object, place.address, NULL);
}

START_TEST(built_ways)
{
	const struct way *way = &ways[_i];

	if (way->tool && tool_missing(way->tool))
		return;
	built_run(way->line);
	ck_assert_msg(!strcmp(mapped_names(built_symbol("inl", "outer")), with_debug(CHAIN, "outer :0")), "%s: %s",
		way->line,
		mapped_names(built_symbol("inl", "outer")));
}
END_TEST

/* ---- what is missing is told ---- */

START_TEST(stripped)
{
	struct object *object;
	u64 address;

	built_run("gcc -O2 -o inl inl.c");
	address = built_symbol("inl", "outer");
	built_run("strip -s inl");
	object = built_object(spaces, "inl");
	ck_assert_str_eq(built_names(object, address, NULL), "stripped");
	ck_assert_str_eq(object_note(object), "stripped");
	ck_assert_ptr_nonnull(strstr(object_debug_tried(object), ".debug"));
	ck_assert_ptr_null(object_debug_file(object));
	ck_assert_str_eq(built_names(object, 0x7fffffffffff, NULL), "stripped");
}
END_TEST

START_TEST(separate)
{
	static const char *const flags[] = { "", "-Wl,--build-id=none" };
	struct object *object;
	char line[512];
	u64 address;

	snprintf(line, sizeof(line), "gcc -O2 -g %s -o inl inl.c && mkdir .debug && objcopy --only-keep-debug inl "
		".debug/x.debug",
		flags[_i]);
	built_run(line);
	address = built_symbol("inl", "outer");
	built_run("strip -s --remove-section=.comment inl && objcopy --add-gnu-debuglink=.debug/x.debug inl && cp "
		"inl other");
	object = built_object(spaces, "inl");
	ck_assert_str_eq(built_names(object, address, NULL), with_debug(CHAIN, "outer :0"));
	ck_assert_ptr_nonnull(strstr(object_debug_file(object), "/.debug/x.debug"));
	ck_assert_ptr_null(object_note(object));
	/* One of another build is not believed. */
	built_run(_i ? "echo >>.debug/x.debug" : "gcc -O1 -g -o y inl.c && objcopy --only-keep-debug y .debug/x.debug");
	object = built_object(spaces, "other");
	ck_assert_str_eq(built_names(object, address, NULL), "stripped");
	ck_assert_str_eq(object_note(object), "stripped");
}
END_TEST

START_TEST(alternate_missing)
{
	struct object *object;

	if (tool_missing("dwz"))
		return;
	built_run("gcc -O2 -g -o inl inl.c && cp inl inl2 && dwz -m common.dwz inl inl2 && rm common.dwz");
	object = built_object(spaces, "inl");
	ck_assert_ptr_nonnull(strstr(built_names(object, built_symbol("inl", "outer"), NULL), "outer"));
	if (libdw_load())
		ck_assert_ptr_nonnull(strstr(object_note(object), "common.dwz"));
}
END_TEST

/* The symbols that a distribution leaves in stripped files. */
START_TEST(mini_symbols)
{
	struct object *object;
	u64 address;

	built_run("gcc -O2 -o inl inl.c && objcopy -S --keep-symbol=outer inl mini && xz -k mini");
	address = built_symbol("inl", "outer");
	built_run("strip -s inl && objcopy --add-section .gnu_debugdata=mini.xz inl");
	object = built_object(spaces, "inl");
	ck_assert_str_eq(built_names(object, address, NULL), "outer :0");
	ck_assert_ptr_null(object_note(object));
}
END_TEST

START_TEST(split_missing)
{
	struct object *object;

	built_run("gcc -O2 -g -gsplit-dwarf -o inl inl.c && rm -f *.dwo");
	object = built_object(spaces, "inl");
	ck_assert_str_eq(built_names(object, built_symbol("inl", "outer"), NULL),
		with_debug("outer inl.c:4", "outer :0"));
	if (libdw_load())
		ck_assert_msg(!strncmp(object_note(object), "split debug info not found: /", 29) &&
			strstr(object_note(object), ".dwo"),
			"%s", object_note(object));
}
END_TEST

/* A package of split debug info is read, or named. */
START_TEST(split_package)
{
	const char *names;
	struct object *object;

	built_run("gcc -O2 -g -gsplit-dwarf -o inl inl.c && dwp -o inl.dwp *.dwo && rm -f *.dwo");
	object = built_object(spaces, "inl");
	names = built_names(object, built_symbol("inl", "outer"), NULL);
	if (libdw_load() && strcmp(names, CHAIN)) {
		ck_assert_str_eq(names, "outer inl.c:4");
		ck_assert_ptr_nonnull(strstr(object_note(object), "inl.dwp needs libdw"));
	}
}
END_TEST

/* A file that is gone is named by the debug info of its build id. */
START_TEST(gone)
{
	struct object *object;
	char line[512];
	u64 address;

	built_run("gcc -O2 -g -o inl inl.c");
	address = built_symbol("inl", "outer");
	object = built_object(spaces, "inl");
	snprintf(line, sizeof(line), "mkdir -p debuginfod_client/%s && objcopy --only-keep-debug inl "
		"debuginfod_client/%s/debuginfo && echo >inl",
		object_build_id(object), object_build_id(object));
	built_run(line);
	ck_assert_str_eq(built_names(object, address, NULL), "deleted");
	ck_assert_int_eq(setenv("XDG_CACHE_HOME", built_dir, 1), 0);
	ck_assert_str_eq(built_names(object, address, NULL), with_debug(CHAIN, "outer :0"));
	ck_assert_str_eq(object_note(object), "replaced during the run");
}
END_TEST

START_TEST(options)
{
	struct resolve_options plain = { .no_debug = true }, raw = { .raw_names = true };
	struct object *object;
	u64 address;

	built_write("x.cc", "namespace area { template<class T> struct box { __attribute__((noinline)) void fill(T "
		"x) { value = x; } volatile T "
			    "value; }; template struct box<int>; }\nint main() { area::box<int> b; b.fill(1); }\n");
	built_run("g++ -O2 -g -o x x.cc");
	object = built_object(spaces, "x");
	address = built_symbol("x", "_ZN4area3boxIiE4fillEi");
	if (demangle_available())
		ck_assert_str_eq(built_names(object, address, &plain), "area::box<int>::fill(int) :0");
	ck_assert_str_eq(built_names(object, address, &raw),
		with_debug("_ZN4area3boxIiE4fillEi x.cc:1", "_ZN4area3boxIiE4fillEi :0"));
}
END_TEST

/* The entry of a function in p, as binutils know it. */
static u64 built_plt(const char *name)
{
	unsigned long long address = 0;
	char command[256];
	FILE *out;

	snprintf(command, sizeof(command), "objdump -d %s/p | awk '$2 == \"<%s@plt>:\" { print $1 }'", built_dir, name);
	out = popen(command, "r");
	if (!out || fscanf(out, "%llx", &address) != 1)
		ck_abort_msg("no %s@plt", name);
	pclose(out);
	return address;
}

/* ---- code of assemblers: sizes are missing, labels are many ---- */

START_TEST(assembler)
{
	struct object *object;
	u64 from;

	built_write("a.s", ".text\n.globl one\none: .skip 16, 0x90\n.type two, @function\ntwo: .skip 16, 0x90\n.size "
		"two, . - two\n.skip 16, 0x90\n"
			   ".globl main\n.type main, @function\nmain: ret\n.size main, . - main\n.data\n.globl "
				"value\nvalue: .quad 0\n"
			   ".section .note.GNU-stack, \"\", @progbits\n");
	built_run("gcc -nostdlib -static -Wl,-e,main -o a a.s");
	object = built_object(spaces, "a");
	from = built_symbol("a", "one");
	ck_assert_str_eq(built_names(object, from + 15, NULL), "one :0");
	ck_assert_str_eq(built_names(object, from + 16, NULL), "two :0");
	ck_assert_str_eq(built_names(object, from + 31, NULL), "two :0");
	ck_assert_str_eq(built_names(object, from + 32, NULL), "stripped");
	ck_assert_str_eq(built_names(object, from - 1, NULL), "stripped");
	ck_assert_str_eq(built_names(object, from + 48, NULL), "main :0");
	ck_assert_str_eq(built_names(object, built_symbol("a", "value"), NULL), "stripped");
}
END_TEST

/* Ten thousand symbols with names that are long and deep. */
START_TEST(monstrous)
{
	struct resolve_options plain = { .no_debug = true };
	u64 began, address;

	built_write("many.sh", "echo .text\nname=_Z1f; i=0; while [ $i -lt 3000 ]; do name=${name}PP; i=$((i + 1)); "
		"done\n"
			       "i=0; while [ $i -lt 10000 ]; do echo \"${name}i$i: nop\"; i=$((i + 1)); done\n"
			       "echo .globl main; echo main: ret; echo '.section .note.GNU-stack, \"\", @progbits'\n");
	built_run("sh many.sh >many.s && gcc -nostdlib -static -Wl,-e,main -o many many.s");
	address = built_symbol("many", "main");
	began = clock_ns(CLOCK_MONOTONIC);
	ck_assert(!strncmp(built_names(built_object(spaces, "many"), address - 1, &plain), "_Z1fPP", 6));
	ck_assert_uint_lt(clock_ns(CLOCK_MONOTONIC) - began, 5 * NSEC_PER_SEC);
}
END_TEST

/* ---- the kernel ---- */

/* 0: there is none, or it is hidden. */
static u64 kernel_address(const char *function)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address = 0, at;
	char line[512], name[256], type;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx %c %255s", &at, &type, name) == 3 && strchr("tT", type) && !strcmp(name, function))
			address = at;
	if (file)
		fclose(file);
	return address;
}

START_TEST(kernel)
{
	u64 address = kernel_address("do_sys_openat2");
	struct space_place place;

	spaces_kernel(spaces, address + 1, &place);
	ck_assert_ptr_nonnull(place.object);
	if (address) {
		ck_assert_uint_eq(place.address, address + 1);
		ck_assert_str_eq(built_names(place.object, place.address, NULL), "do_sys_openat2 :0");
		ck_assert_str_eq(built_names(place.object, 16, NULL), "stripped");
	} else {
		ck_assert_uint_eq(place.address, 0);
		ck_assert_str_eq(built_names(place.object, place.address, NULL), "kernel hidden");
	}
}
END_TEST

static void kernel_found(void *data, const struct resolve_request *request, size_t address,
	enum resolve_reason reason, const struct resolve_line *lines, size_t n)
{
	char (*names)[64] = data;

	(void)request;
	snprintf(names[address], sizeof(names[0]), "%s", n ? lines[0].function : resolve_reason_text(reason));
}

/* Each of several addresses has the nearest function, which may be another one's as well. */
START_TEST(kernel_several)
{
	static const char *const functions[] = { "do_sys_openat2", "vfs_read" };
	u64 at[ARRAY_SIZE(functions)], addresses[5] = { 16 };
	struct resolve_request request = { NULL, addresses, ARRAY_SIZE(addresses) };
	struct space_place place;
	char names[5][64];
	size_t first;

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		at[i] = kernel_address(functions[i]);
	if (!at[0] || !at[1])
		return;
	first = at[0] > at[1];
	for (size_t i = 0; i < 4; i++)
		addresses[i + 1] = at[i / 2 ? !first : first] + i % 2;
	spaces_kernel(spaces, addresses[1], &place);
	request.object = place.object;
	ck_assert_int_eq(resolve_objects(&request, 1, &(struct resolve_options){ .no_debug = false }, kernel_found,
		names), 0);
	ck_assert_str_eq(names[0], "stripped");
	for (size_t i = 0; i < 4; i++)
		ck_assert_str_eq(names[i + 1], functions[i / 2 ? !first : first]);
}
END_TEST

/* Calls of other objects: by name, and by address where a function is chosen at the start. */
START_TEST(linkage)
{
	struct object *object;
	u64 address;

	built_write("p.c", "#include <stdio.h>\n#include <stdlib.h>\n"
			   "static int one(void) { return 1; }\nstatic int (*choose(void))(void) { return one; }\n"
			   "static int chosen(void) __attribute__((ifunc(\"choose\")));\n"
			   "int main(void) { puts(\"x\"); srand(1); return chosen(); }\n");
	built_run("gcc -O1 -Wl,-z,lazy -o p p.c");
	object = built_object(spaces, "p");
	address = built_plt("puts");
	ck_assert_str_eq(built_names(object, address, NULL), "puts@plt :0");
	ck_assert_str_eq(built_names(object, address + 15, NULL), "puts@plt :0");
	ck_assert_str_eq(built_names(object, built_plt("srand"), NULL), "srand@plt :0");
	built_run("strip -s p");
	object = built_object(spaces, "p");
	ck_assert_str_eq(built_names(object, address, NULL), "puts@plt :0");
}
END_TEST

/* ---- files that do harm ---- */

struct told {
	size_t calls;
	char good[8192];             /* the names in the file of that name */
};

static void tell_found(void *data, const struct resolve_request *request, size_t address, enum resolve_reason reason,
	const struct resolve_line *lines, size_t n)
{
	struct told *told = data;

	told->calls++;
	if (strstr(object_path(request->object), "/good"))
		built_found(told->good, request, address, reason, lines, n);
}

/* Any damage costs the names of that file and nothing else; the other one is named all the same. */
START_TEST(damaged)
{
	struct resolve_request requests[2];
	struct told told = { .calls = 0 };
	u64 address, other;

	built_run("gcc -O2 -g -o inl inl.c && cp inl good");
	address = built_symbol("inl", "outer");
	other = built_symbol("good", "outer");
	switch (_i) {
	case 0:
		built_run("truncate -s 1000 inl");
		break;
	case 1:
		built_run("truncate -s 8000 inl");
		break;
	case 2:
		built_run("objcopy --dump-section .debug_info=info inl && head -c $(stat -c %s info) /dev/urandom "
			">info && "
			  "objcopy --update-section .debug_info=info inl");
		break;
	case 3:
		built_run("objcopy --dump-section .debug_abbrev=info inl && head -c $(stat -c %s info) /dev/zero | "
			"tr '\\0' '\\1' >info && "
			  "objcopy --update-section .debug_abbrev=info inl");
		break;
	case 4:
		built_run("objcopy --dump-section .debug_line=info inl && head -c $(stat -c %s info) /dev/urandom "
			">info && "
			  "objcopy --update-section .debug_line=info inl");
		break;
	default:
		built_run("head -c 64 /dev/zero | tr '\\0' '\\377' | dd of=inl bs=1 seek=24 conv=notrunc");
	}
	requests[0] = (struct resolve_request){ built_object(spaces, "inl"), &address, 1 };
	requests[1] = (struct resolve_request){ built_object(spaces, "good"), &other, 1 };
	ck_assert_ptr_ne(requests[0].object, requests[1].object);
	ck_assert_int_eq(resolve_objects(requests, 2, &(struct resolve_options){ .no_debug = false }, tell_found,
		&told), 0);
	ck_assert_uint_eq(told.calls, 2);
	ck_assert_str_eq(told.good, with_debug(CHAIN, "outer :0"));
}
END_TEST

START_TEST(out_of_time)
{
	struct resolve_options soon = { .file_ns = 1, .total_ns = 1 };

	built_run("gcc -O2 -g -o inl inl.c");
	ck_assert_str_eq(built_names(built_object(spaces, "inl"), built_symbol("inl", "outer"), &soon), "out of time");
}
END_TEST

/* Nobody waits for a server that does not answer, nor asks one unasked. */
START_TEST(servers)
{
	struct resolve_options asked = { .debuginfod = true, .file_ns = NSEC_PER_SEC };
	u64 began, address;

	built_run("gcc -O2 -o inl inl.c");
	address = built_symbol("inl", "outer");
	built_run("strip -s inl");
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:9/", 1);
	began = clock_ns(CLOCK_MONOTONIC);
	ck_assert_str_eq(built_names(built_object(spaces, "inl"), address, NULL), "stripped");
	ck_assert_uint_lt(clock_ns(CLOCK_MONOTONIC) - began, NSEC_PER_SEC / 2);
	ck_assert_str_eq(built_names(built_object(spaces, "inl"), address, &asked), "stripped");
	ck_assert_uint_lt(clock_ns(CLOCK_MONOTONIC) - began, 2 * NSEC_PER_SEC);
}
END_TEST

/* One that takes the question and never answers costs the time that was set, not the client's minute and a half. */
START_TEST(silent_server)
{
	struct resolve_options asked = { .debuginfod = true, .file_ns = NSEC_PER_SEC };
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(at);
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char url[64];
	u64 began;

	ck_assert_int_eq(bind(server, (struct sockaddr *)&at, size), 0);
	ck_assert_int_eq(listen(server, 4), 0);
	ck_assert_int_eq(getsockname(server, (struct sockaddr *)&at, &size), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", ntohs(at.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("XDG_CACHE_HOME", built_dir, 1);
	built_run("gcc -O2 -o inl inl.c && strip -s inl");
	began = clock_ns(CLOCK_MONOTONIC);
	ck_assert_str_ne(built_names(built_object(spaces, "inl"), 0x1140, &asked), "");
	ck_assert_uint_lt(clock_ns(CLOCK_MONOTONIC) - began, 30 * NSEC_PER_SEC);
	close(server);
}
END_TEST

/* ---- real libraries ---- */

static void count_found(void *data, const struct resolve_request *request, size_t address, enum resolve_reason reason,
	const struct resolve_line *lines, size_t n)
{
	size_t *named = data;

	(void)request;
	(void)address;
	*named += reason == RESOLVE_NAMED && n && lines[n - 1].function;
}

START_TEST(own_program)
{
	struct resolve_options plain = { .no_debug = true };
	struct resolve_request requests[2];
	struct space_place place;
	u64 address[1000], libc;
	size_t named = 0;

	ck_assert_int_eq(spaces_snapshot(spaces, (u32)getpid(), 1), 0);
	ck_assert(spaces_find(spaces, (u32)getpid(), 2, (u64)(uintptr_t)qsort, &place));
	libc = place.address;
	requests[0] = (struct resolve_request){ place.object, &libc, 1 };
	ck_assert(spaces_find(spaces, (u32)getpid(), 2, (u64)(uintptr_t)resolve_objects, &place));
	for (size_t i = 0; i < ARRAY_SIZE(address); i++)
		address[i] = place.address + i;
	requests[1] = (struct resolve_request){ place.object, address, ARRAY_SIZE(address) };
	ck_assert_int_eq(resolve_objects(requests, 2, &plain, count_found, &named), 0);
	ck_assert_uint_gt(named, 100);
}
END_TEST

/* What is not here, for the name of the case that tells of it; "": all is. */
static void missing_tools(char *text, size_t size)
{
	size_t length = 0, i;

	text[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (ways[i].tool && !strstr(text, ways[i].tool) && tool_missing(ways[i].tool))
			length += (size_t)snprintf(text + length, size - length, " %s", ways[i].tool);
}

START_TEST(skipped)
{
	/* Its name says all. */
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("resolve"), *more = NULL;
	char missing[64], name[128];

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, built_ways, 0, ARRAY_SIZE(ways));
	tcase_add_test(tests, stripped);
	tcase_add_loop_test(tests, separate, 0, 2);
	tcase_add_test(tests, alternate_missing);
	tcase_add_test(tests, mini_symbols);
	tcase_add_test(tests, split_missing);
	tcase_add_test(tests, split_package);
	tcase_add_test(tests, gone);
	tcase_add_test(tests, options);
	tcase_add_test(tests, assembler);
	tcase_add_loop_test(tests, damaged, 0, 6);
	tcase_add_test(tests, linkage);
	tcase_add_test(tests, monstrous);
	tcase_add_test(tests, kernel);
	tcase_add_test(tests, kernel_several);
	tcase_add_test(tests, out_of_time);
	tcase_add_test(tests, servers);
	tcase_add_test(tests, silent_server);
	tcase_add_test(tests, own_program);
	missing_tools(missing, sizeof(missing));
	if (*missing) {
		snprintf(name, sizeof(name), "ways # SKIP compilers: not here:%s", missing);
		more = tcase_create(name);
		tcase_add_test(more, skipped);
	}
	return suite_run_with("resolve", tests, more);
}
