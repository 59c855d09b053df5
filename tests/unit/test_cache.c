/* SPDX-License-Identifier: MIT */
/* analyze/cache: what a state of the page cache is called; session/cache: files that are really made cold and warm. */
#define _GNU_SOURCE
#include "cli/session/cache.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/session/cache_look.h"
#include "suite.h"

static char because[CACHE_BECAUSE];

static enum cache_regime judged(enum cache_asked asked, u64 pages, u64 resident, const char *behind)
{
	struct cache_look look = { .files = 1, .pages = pages, .resident = resident };

	return cache_judge(asked, &look, behind, because);
}

START_TEST(test_pages)
{
	ck_assert_int_eq(judged(CACHE_ASKED_COLD, 100, 0, NULL), CACHE_COLD);
	ck_assert_str_eq(because, "");
	ck_assert_int_eq(judged(CACHE_ASKED_COLD, 100, 12, ""), CACHE_PARTLY_COLD);
	ck_assert_ptr_nonnull(strstr(because, "12 % of it is in memory"));
	/* One page of very many is not none. */
	ck_assert_int_eq(judged(CACHE_ASKED_COLD, 1u << 30, 1, NULL), CACHE_PARTLY_COLD);
	/* Nothing left: that is warm, whatever was asked. */
	ck_assert_int_eq(judged(CACHE_ASKED_COLD, 100, 100, NULL), CACHE_WARM);
	ck_assert_str_ne(because, "");
	ck_assert_int_eq(judged(CACHE_ASKED_WARM, 100, 100, NULL), CACHE_WARM);
	ck_assert_str_eq(because, "");
	ck_assert_int_eq(judged(CACHE_ASKED_WARM, 100, 60, NULL), CACHE_PARTLY_WARM);
	ck_assert_ptr_nonnull(strstr(because, "40 %"));
	ck_assert_int_eq(judged(CACHE_ASKED_WARM, 100, 0, NULL), CACHE_COLD);
	ck_assert_str_ne(because, "");
	ck_assert_int_eq(judged(CACHE_ASKED_STEADY, 100, 50, NULL), CACHE_STEADY);
	ck_assert_int_eq(judged(CACHE_ASKED_COLD, 0, 0, NULL), CACHE_STEADY);
}
END_TEST

/* Another cache may answer where this one is empty; where it is not, that is worse. */
START_TEST(test_behind)
{
	ck_assert_int_eq(judged(CACHE_ASKED_COLD, 100, 0, "the server may have it"), CACHE_PARTLY_COLD);
	ck_assert_str_eq(because, "the server may have it");
	ck_assert_int_eq(judged(CACHE_ASKED_WARM, 100, 100, "the server may have it"), CACHE_WARM);
	ck_assert_str_eq(because, "");
}
END_TEST

START_TEST(test_unknown)
{
	struct cache_look look = { .files = 3, .unknown = 1, .pages = 8, .resident = 8, .why = "not told" };

	/* What is known of the others is not enough, and all that is known says warm. */
	ck_assert_int_eq(cache_judge(CACHE_ASKED_WARM, &look, NULL, because), CACHE_UNKNOWN);
	ck_assert_str_eq(because, "of 1 of 3 files it is not known: not told");
	ck_assert_int_eq(cache_judge(CACHE_ASKED_COLD, &look, NULL, because), CACHE_UNKNOWN);
	look = (struct cache_look){ .files = 100, .more = true, .pages = 8 };
	ck_assert_int_eq(cache_judge(CACHE_ASKED_COLD, &look, NULL, because), CACHE_UNKNOWN);
	look = (struct cache_look){ .missing = "it is not there: gone" };
	ck_assert_int_eq(cache_judge(CACHE_ASKED_COLD, &look, NULL, because), CACHE_UNKNOWN);
	ck_assert_str_eq(because, "it is not there: gone");
	look = (struct cache_look){ .files = 2, .fixed = 2, .pages = 8, .resident = 8, .fixed_why = "tmpfs" };
	ck_assert_int_eq(cache_judge(CACHE_ASKED_COLD, &look, NULL, because), CACHE_STEADY);
	ck_assert_str_eq(because, "tmpfs");
	ck_assert_int_eq(cache_judge(CACHE_ASKED_WARM, &look, NULL, because), CACHE_STEADY);
	look.fixed = 1;
	ck_assert_int_eq(cache_judge(CACHE_ASKED_COLD, &look, NULL, because), CACHE_MIXED);
}
END_TEST

static enum cache_regime summed(enum cache_regime a, enum cache_regime b)
{
	const struct cache_file files[] = {
		{ .path = "a", .regime = a, .because = a == CACHE_UNKNOWN ? "none" : NULL }, { .path = "b", .regime = b },
	};

	return cache_sum(CACHE_ASKED_COLD, files, 2, because);
}

START_TEST(test_sum)
{
	ck_assert_int_eq(summed(CACHE_COLD, CACHE_COLD), CACHE_COLD);
	ck_assert_str_eq(because, "");
	ck_assert_int_eq(summed(CACHE_COLD, CACHE_PARTLY_COLD), CACHE_PARTLY_COLD);
	ck_assert_int_eq(summed(CACHE_PARTLY_WARM, CACHE_WARM), CACHE_PARTLY_WARM);
	ck_assert_int_eq(summed(CACHE_COLD, CACHE_WARM), CACHE_MIXED);
	ck_assert_str_eq(because, "files differ");
	ck_assert_int_eq(summed(CACHE_COLD, CACHE_STEADY), CACHE_MIXED);
	ck_assert_int_eq(summed(CACHE_PARTLY_COLD, CACHE_WARM), CACHE_MIXED);
	ck_assert_int_eq(summed(CACHE_UNKNOWN, CACHE_COLD), CACHE_UNKNOWN);
	ck_assert_str_eq(because, "a: none");
	ck_assert_int_eq(cache_sum(CACHE_ASKED_COLD, NULL, 0, because), CACHE_UNKNOWN);
	ck_assert_str_ne(because, "");
	ck_assert_int_eq(cache_sum(CACHE_ASKED_STEADY, NULL, 0, because), CACHE_STEADY);
}
END_TEST

/* ---- files ----------------------------------------------------------------------------------------- */

enum { PAGES = 64 };

static char folder[] = "test_cache.XXXXXX";

static void put(const char *name, size_t size)
{
	char *bytes = calloc(1, size);
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	memset(bytes, 'x', size);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	free(bytes);
	close(fd);
}

static void setup(void)
{
	strcpy(strrchr(folder, '.'), ".XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	put("file", PAGES * (size_t)sysconf(_SC_PAGESIZE) - 100);
}

static void teardown(void)
{
	char command[64];

	ck_assert_int_eq(chdir(".."), 0);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static bool never(void)
{
	return false;
}

static bool at_once(void)
{
	return true;
}

/* tmpfs has files that cannot be cold, whatever else is tested. */
static bool fixed_here(void)
{
	struct statfs fs;

	ck_assert_int_eq(statfs(".", &fs), 0);
	return fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
}

static struct cache *prepared(enum cache_asked asked, const char *name)
{
	static struct cache_options options;
	static char *names[1];

	names[0] = (char *)(uintptr_t)name;
	options = (struct cache_options){ .asked = asked, .names = names, .nnames = 1 };
	return cache_prepare(&options, NULL, never);
}

START_TEST(test_file)
{
	struct cache *cold = prepared(CACHE_ASKED_COLD, "file"), *warm = prepared(CACHE_ASKED_WARM, "file");
	const struct cache_fact *fact = cache_facts(cold);

	ck_assert_uint_eq(fact->files[0].files, 1);
	ck_assert_uint_eq(fact->files[0].pages, PAGES);
	ck_assert_int_eq(fact->files[0].found, PAGES);
	ck_assert_int_eq(fact->files[0].end, -1);
	ck_assert_int_eq(fact->regime, fixed_here() ? CACHE_STEADY : CACHE_COLD);
	ck_assert_int_eq(fact->files[0].start, fixed_here() ? PAGES : 0);
	fact = cache_facts(warm);
	ck_assert_int_eq(fact->files[0].found, fixed_here() ? PAGES : 0);
	ck_assert_int_eq(fact->files[0].start, PAGES);
	ck_assert_int_eq(fact->regime, fixed_here() ? CACHE_STEADY : CACHE_WARM);
	/* Read in meanwhile, as far as the first knows; then it vanishes. */
	cache_end(cold);
	ck_assert_int_eq(cache_facts(cold)->files[0].end, PAGES);
	ck_assert_int_eq(unlink("file"), 0);
	cache_end(warm);
	ck_assert_int_eq(cache_facts(warm)->files[0].end, -1);
	if (!fixed_here()) {
		cache_add(cold, warm);
		ck_assert_int_eq(cache_facts(cold)->regime, CACHE_MIXED);
		ck_assert_ptr_nonnull(strstr(cache_facts(cold)->because, "was warm, the first one cold"));
	}
	cache_free(cold);
	cache_free(warm);
}
END_TEST

/* Pages that somebody has mapped stay. */
START_TEST(test_mapped)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open("file", O_RDONLY | O_CLOEXEC);
	volatile char *map = mmap(NULL, PAGES * page, PROT_READ, MAP_SHARED, fd, 0);
	const struct cache_fact *fact;
	struct cache *cache;

	ck_assert_ptr_ne((const void *)(uintptr_t)map, MAP_FAILED);
	ck_assert_int_eq(map[10 * page], 'x');
	cache = prepared(CACHE_ASKED_COLD, "file");
	fact = cache_facts(cache);
	if (!fixed_here()) {
		ck_assert_int_ne(fact->regime, CACHE_COLD);
		ck_assert_int_ge(fact->files[0].start, 1);
		ck_assert_ptr_nonnull(strstr(fact->because, "mapped"));
	}
	ck_assert_int_eq(map[10 * page], 'x');
	munmap((void *)(uintptr_t)map, PAGES * page);
	close(fd);
	cache_free(cache);
}
END_TEST

/* All below a folder, but through no link, and nothing that is no regular file is opened. */
START_TEST(test_folder)
{
	const struct cache_fact *fact;
	struct cache *cache;

	ck_assert_int_eq(mkdir("tree", 0755), 0);
	ck_assert_int_eq(mkdir("tree/deep", 0755), 0);
	put("tree/one", 1);
	put("tree/deep/two", 2 * (size_t)sysconf(_SC_PAGESIZE));
	put("tree/empty", 0);
	ck_assert_int_eq(symlink("../file", "tree/link"), 0);
	ck_assert_int_eq(symlink("..", "tree/deep/up"), 0);
	ck_assert_int_eq(mkfifo("tree/fifo", 0600), 0);
	cache = prepared(CACHE_ASKED_WARM, "tree");
	fact = cache_facts(cache);
	ck_assert_uint_eq(fact->files[0].files, 3);
	ck_assert_uint_eq(fact->files[0].pages, 3);
	ck_assert_int_eq(fact->files[0].start, 3);
	cache_free(cache);
	/* A link that was named is followed. */
	cache = prepared(CACHE_ASKED_WARM, "tree/link");
	ck_assert_uint_eq(cache_facts(cache)->files[0].pages, PAGES);
	cache_free(cache);
	cache = prepared(CACHE_ASKED_COLD, "tree/fifo");
	ck_assert_int_eq(cache_facts(cache)->regime, CACHE_UNKNOWN);
	cache_free(cache);
	cache = prepared(CACHE_ASKED_COLD, "none");
	ck_assert_int_eq(cache_facts(cache)->regime, CACHE_UNKNOWN);
	ck_assert_ptr_nonnull(strstr(cache_facts(cache)->because, "not there"));
	cache_free(cache);
}
END_TEST

/* A kernel that refuses cachestat() leaves what mincore() tells, of one's own files. */
START_TEST(test_without_cachestat)
{
	const struct residency none = { .why = "a filter" };
	struct residency some;
	struct cache_look look = { .files = 0 };
	struct stat stat_of;
	int fd = open("file", O_RDONLY | O_CLOEXEC);

	residency_try(&some);
	ck_assert(some.works || some.why[0]);
	ck_assert_int_eq(fstat(fd, &stat_of), 0);
	residency_add(&none, fd, &stat_of, &look);
	ck_assert_uint_eq(look.resident, PAGES);
	ck_assert_uint_eq(look.unknown, 0);
	close(fd);
}
END_TEST

/* What was not looked at to its end is not known. */
START_TEST(test_stopped)
{
	char *names[] = { (char[]){ "file" } };
	struct cache_options options = { .asked = CACHE_ASKED_COLD, .names = names, .nnames = 1 };
	struct cache *cache = cache_prepare(&options, NULL, at_once);

	ck_assert_int_eq(cache_facts(cache)->regime, CACHE_UNKNOWN);
	cache_free(cache);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("cache"), *files = tcase_create("files");

	tcase_add_test(t, test_pages);
	tcase_add_test(t, test_behind);
	tcase_add_test(t, test_unknown);
	tcase_add_test(t, test_sum);
	tcase_add_checked_fixture(files, setup, teardown);
	tcase_add_test(files, test_file);
	tcase_add_test(files, test_mapped);
	tcase_add_test(files, test_folder);
	tcase_add_test(files, test_without_cachestat);
	tcase_add_test(files, test_stopped);
	return suite_run_with("cache", t, files);
}
