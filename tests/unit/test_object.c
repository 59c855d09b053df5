/* SPDX-License-Identifier: MIT */
/* The file that was mapped and no other, while programs run; and what JIT compilers tell of their code. */
#include "tests/unit/built.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "cli/symbols/jit_names.h"
#include "tests/unit/suite.h"

static struct spaces *spaces;

static void setup(void)
{
	built_open();
	built_write("x.c", "#include <unistd.h>\nvolatile int n;\n__attribute__((noinline)) void here(void) { n++; }\n"
			   "int main(void) { here(); write(1, \"x\", 1); pause(); }\n");
	built_write("y.c", "#include <unistd.h>\nvolatile int n;\n__attribute__((noinline)) void there(void) { n++; }\n"
			   "int main(void) { n++; there(); pause(); }\n");
	built_run("gcc -g -o x x.c && gcc -g -o y y.c");
	spaces = spaces_new();
	ck_assert_ptr_nonnull(spaces);
}

static void teardown(void)
{
	spaces_free(spaces);
	built_close();
}

/* Starts it and waits until it is in main(). */
static pid_t start(const char *name)
{
	char path[64], byte;
	int ends[2];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s", built_dir, name);
	if (pipe(ends))
		abort();
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		execl(path, path, NULL);
		_exit(127);
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		abort();
	close(ends[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The program's own object in a process. */
static struct object *object_of(const char *name)
{
	struct object *object;
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", built_dir, name);
	for (size_t i = 0; (object = spaces_object(spaces, i)); i++)
		if (!strcmp(object_path(object), path))
			return object;
	ck_abort_msg("no %s", name);
	return NULL;
}

static bool names_is(struct object *object, u64 address, const char *wanted)
{
	return strncmp(built_names(object, address, NULL), wanted, strlen(wanted)) == 0;
}

START_TEST(deleted)
{
	u64 here = built_symbol("x", "here");
	pid_t pid = start("x");

	built_run("rm x && cp y x");
	ck_assert_int_eq(spaces_snapshot(spaces, (u32)pid, 1), 0);
	stop(pid);
	/* Found by what the process has open, although its name is another's now. */
	ck_assert(names_is(object_of("x"), here, "here"));
	ck_assert_ptr_null(object_note(object_of("x")));
}
END_TEST

START_TEST(replaced)
{
	u64 here = built_symbol("x", "here");
	pid_t pid = start("x");
	struct maps_row {
		unsigned long long start, end, offset, inode;
		unsigned int major, minor;
	} row;
	struct space_map map = { .time_ns = 1, .protection = PROT_EXEC };
	char path[64], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	do {
		ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
	} while (!strstr(line, "r-xp") || !strstr(line, "/x\n") ||
		 sscanf(line, "%llx-%llx %*s %llx %x:%x %llu", &row.start, &row.end, &row.offset, &row.major,
			&row.minor, &row.inode) != 6);
	fclose(file);
	stop(pid);
	built_run("mv x keep && cp y x");
	snprintf(path, sizeof(path), "%s/x", built_dir);
	map = (struct space_map){ .pid = (u32)pid, .time_ns = 1, .start = row.start, .length = row.end - row.start,
				  .offset = row.offset, .protection = PROT_EXEC, .name = path, .major = row.major,
				  .minor = row.minor, .inode = row.inode };
	ck_assert_int_eq(spaces_map(spaces, &map), 0);
	ck_assert_str_eq(built_names(object_of("x"), here, NULL), "deleted");
	ck_assert_str_eq(object_note(object_of("x")), "replaced during the run");
	ck_assert_int_eq(object_descriptor(object_of("x")), -1);
}
END_TEST

/* By build id, as records tell it; a file that is written over in place is another, too. */
START_TEST(build_ids)
{
	u64 here = built_symbol("x", "here");
	struct object *object = built_object(spaces, "x");
	u8 id[20];
	char path[64];
	struct space_map map = { .pid = BUILT_PID + 1, .time_ns = 1, .start = BUILT_START, .length = 0x10000,
		.protection = PROT_EXEC,
				 .name = path, .build_id = id, .build_id_size = sizeof(id) };
	struct space_place place;

	snprintf(path, sizeof(path), "%s/x", built_dir);
	ck_assert_ptr_nonnull(object_build_id(object));
	for (size_t i = 0; i < sizeof(id); i++)
		ck_assert_int_eq(sscanf(object_build_id(object) + 2 * i, "%2hhx", &id[i]), 1);
	ck_assert_int_eq(spaces_map(spaces, &map), 0);
	ck_assert(spaces_find(spaces, BUILT_PID + 1, 1, BUILT_START, &place));
	ck_assert_ptr_eq(place.object, object);
	map.pid++;
	id[0] ^= 1;
	ck_assert_int_eq(spaces_map(spaces, &map), 0);
	ck_assert(spaces_find(spaces, BUILT_PID + 2, 1, BUILT_START, &place));
	ck_assert_ptr_ne(place.object, object);
	ck_assert_str_eq(built_names(place.object, here, NULL), "deleted");
	ck_assert_str_eq(object_note(place.object), "replaced during the run");
	ck_assert(names_is(object, here, "here"));
	built_run("cat y >x");
	ck_assert_str_eq(built_names(object, here, NULL), "deleted");
	ck_assert_str_eq(object_note(object), "replaced during the run");
}
END_TEST

/*
 * A program in a file system of its own, where the same path is another file for us; one of layers tells other
 * devices by stat(2) than of mappings.
 */
START_TEST(other_root)
{
	static const char *const mounts[] = { "mount -t tmpfs none in && cp x in/z",
					      "mount -t overlay none -o lowerdir=low,upperdir=up,workdir=work in" };
	u64 here = built_symbol("x", "here");
	char line[512];
	pid_t pid = 0;
	FILE *file;

	snprintf(line, sizeof(line), "mkdir in low up work && cp x low/z && "
		"unshare -m sh -c '%s && { in/z >/dev/null & echo $! >pid; }'", mounts[_i]);
	if (!built_try(line))
		return;
	built_run("cp y in/z");
	snprintf(line, sizeof(line), "%s/pid", built_dir);
	file = fopen(line, "re");
	ck_assert_int_eq(fscanf(file, "%d", &pid), 1);
	fclose(file);
	for (int i = 0; i < 1000; i++) {
		char target[64] = "";

		snprintf(line, sizeof(line), "/proc/%d/exe", pid);
		if (readlink(line, target, sizeof(target) - 1) > 0 && strstr(target, "/in/z"))
			break;
		usleep(1000);
	}
	ck_assert_int_eq(spaces_snapshot(spaces, (u32)pid, 1), 0);
	kill(pid, SIGKILL);
	ck_assert(names_is(object_of("in/z"), here, "here"));
}
END_TEST

START_TEST(image)
{
	struct object *object = built_object(spaces, "x");
	u64 here = built_symbol("x", "here");
	u8 code[16], head[4];
	const u8 *bytes;
	size_t size;

	ck_assert(object_read(object, here, code, sizeof(code)));
	ck_assert(object_read(object, 0, head, sizeof(head)));
	ck_assert_mem_eq(head, "\177ELF", 4);
	ck_assert(!object_read(object, 1ull << 40, code, sizeof(code)));
	bytes = object_image(object, &size);
	ck_assert_ptr_nonnull(bytes);
	ck_assert_mem_eq(bytes, "\177ELF", 4);
	/* In this file offsets of code are its addresses. */
	ck_assert_mem_eq(bytes + here, code, sizeof(code));
	built_run("truncate -s 0 x");
	ck_assert_mem_eq(bytes + here, code, sizeof(code));
	ck_assert(!object_read(object, here, code, sizeof(code)));
}
END_TEST

/* More files than there are descriptors for. */
START_TEST(descriptors)
{
	struct space_map map = { .pid = BUILT_PID, .time_ns = 1, .start = BUILT_START, .length = 0x10000,
		.protection = PROT_EXEC };
	struct object *first;
	char path[64];
	int fd;

	built_run("for i in $(seq 600); do ln x x$i; done");
	for (int i = 1; i <= 600; i++) {
		snprintf(path, sizeof(path), "%s/x%d", built_dir, i);
		map.name = path;
		map.start += 0x10000;
		ck_assert_int_eq(spaces_map(spaces, &map), 0);
	}
	fd = open("/dev/null", O_RDONLY);
	ck_assert_int_lt(fd, 400);
	close(fd);
	first = object_of("x1");
	ck_assert(names_is(first, built_symbol("x1", "here"), "here"));
	ck_assert_int_ge(object_descriptor(first), 0);
}
END_TEST

/* ---- JIT code */

START_TEST(perf_map)
{
	pid_t pid = start("x");
	struct space_map map = { .pid = (u32)pid, .time_ns = 1, .start = 0x7f0000000000, .length = 0x10000,
		.protection = PROT_EXEC,
				 .name = "//anon" };
	struct space_place place;
	char path[64];
	FILE *file;

	ck_assert_int_eq(spaces_map(spaces, &map), 0);
	ck_assert(spaces_find(spaces, (u32)pid, 2, 0x7f0000000105, &place));
	ck_assert_str_eq(object_path(place.object), "[jit]");
	ck_assert_int_eq(object_kind(place.object), OBJECT_JIT);
	ck_assert_uint_eq(object_pid(place.object), (u32)pid);
	ck_assert_uint_eq(place.address, 0x7f0000000105);
	ck_assert_str_eq(built_names(place.object, place.address, NULL), "no map of JIT code");
	/* It is written when the program ends. */
	stop(pid);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	file = fopen(path, "wxe");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "7f0000000100 10 old name\n0x7f0000000100 0x8 Class::method (a b)\nnonsense\n7f0000000200 4 "
		"half");
	fclose(file);
	spaces_refresh(spaces);
	unlink(path);
	ck_assert_str_eq(built_names(place.object, 0x7f0000000105, NULL), "Class::method (a b) :0");
	ck_assert_str_eq(built_names(place.object, 0x7f0000000108, NULL), "old name :0");
	ck_assert_str_eq(built_names(place.object, 0x7f0000000200, NULL), "no map of JIT code");
}
END_TEST

static void put(u8 **at, const void *bytes, size_t size)
{
	memcpy(*at, bytes, size);
	*at += size;
}

/* A dump of a function of 16 bytes at 0x1000, with a line at its start and in its middle, that is moved to 0x2000. */
static size_t dump_make(u8 *bytes, const char *file)
{
	u8 *at = bytes;
	u32 header[] = { 0x4a695444, 1, 40, 62, 0, 1, 0, 0, 0, 0 };
	u32 info[] = { 2, 16 + 16 + 16 + 4 + 16 + 2, 0, 0 }, load[] = { 0, 16 + 40 + 5 + 4, 0, 0 },
		move[] = { 1, 16 + 48, 0, 0 };
	u64 about[] = { 0x1000, 2 }, code[] = { 1, 0, 0x1000, 16, 1 }, moved[] = { 1, 0, 0x1000, 0x2000, 16, 1 };
	u64 first[] = { 0x1000, 7 }, second[] = { 0x1008, 9 };

	put(&at, header, sizeof(header));
	put(&at, info, sizeof(info));
	put(&at, about, sizeof(about));
	put(&at, first, sizeof(first));
	put(&at, file, 4);
	put(&at, second, sizeof(second));
	put(&at, "\xff", 2);
	put(&at, load, sizeof(load));
	put(&at, code, sizeof(code));
	put(&at, "func\0code", 9);
	put(&at, move, sizeof(move));
	put(&at, moved, sizeof(moved));
	return (size_t)(at - bytes);
}

START_TEST(jitdump)
{
	u8 bytes[512];
	u64 addresses[] = { 0x1000, 0x1008, 0x2000 };
	struct jit_name rows[3] = { { .line = 0 } };
	struct jit_names names = { addresses, rows, 3 };
	size_t made = dump_make(bytes, "f.j");

	jit_dump_take(&names, bytes, made);
	ck_assert_str_eq(rows[0].function, "func");
	ck_assert_str_eq(rows[0].file, "f.j");
	ck_assert_uint_eq(rows[0].line, 7);
	ck_assert_str_eq(rows[1].file, "f.j");
	ck_assert_uint_eq(rows[1].line, 9);
	ck_assert_str_eq(rows[2].function, "func");
	jit_names_free(&names);
	for (size_t size = 0; size < made; size++) {
		u8 *part = malloc(size + 1);

		memcpy(part, bytes, size);
		jit_dump_take(&names, part, size);
		jit_names_free(&names);
		free(part);
	}
}
END_TEST

/* A file's name that is none makes all lines of the function unbelievable; its own name stays. */
START_TEST(jitdump_garbage)
{
	static const char *const files[] = { "\xf4@\x03", "\xc3(.", "a\nb", "\x7f.j" };
	u8 bytes[512];
	u64 addresses[] = { 0x1000, 0x1008 };
	struct jit_name rows[2] = { { .line = 0 } };
	struct jit_names names = { addresses, rows, 2 };

	jit_dump_take(&names, bytes, dump_make(bytes, files[_i]));
	for (size_t i = 0; i < 2; i++) {
		ck_assert_str_eq(rows[i].function, "func");
		ck_assert_ptr_null(rows[i].file);
		ck_assert_uint_eq(rows[i].line, 0);
	}
	jit_names_free(&names);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("object");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, deleted);
	tcase_add_test(tests, replaced);
	tcase_add_test(tests, build_ids);
	tcase_add_loop_test(tests, other_root, 0, 2);
	tcase_add_test(tests, image);
	tcase_add_test(tests, descriptors);
	tcase_add_test(tests, perf_map);
	tcase_add_test(tests, jitdump);
	tcase_add_loop_test(tests, jitdump_garbage, 0, 4);
	return suite_run("object", tests);
}
