/* SPDX-License-Identifier: MIT */
/*
 * t_bench [OPTION...]: a program of benchmarks by spark/bench.h:
 *
 *	empty		nothing
 *	chain, walk, alloc, pipe	of known.h
 *	pages		an iteration touches a new page
 *	slow		an iteration sleeps 200 us
 *	between		a hook before each sample sleeps 2 ms; claims "value between CALLS"
 *	matrix		at each point of a=1,2 b=4K,x,3M; claims "value matrix A" where b is 3M: A times 3M
 *
 * t_bench broken WHAT [OPTION...]: programs with an error: break, return, parameter, number, name, matrix, twice,
 *	bytes, long
 */
#include <locale.h>

#include <spark/bench.h>

#include "target.h"
#include "known.h"

enum { PAGES = 1024 };

static void bench_empty(struct spark_bench *bench)
{
	unsigned long left;

	SPARK_BENCH_LOOP(bench, left) {
	}
}

static void bench_chain(struct spark_bench *bench)
{
	unsigned long left, x = 3;

	SPARK_BENCH_LOOP(bench, left)
		x = known_chain(x);
	spark_bench_keep(x);
}

static void bench_walk(struct spark_bench *bench)
{
	struct known_node *nodes = known_ring(), *node = nodes;
	unsigned long left;

	SPARK_BENCH_LOOP(bench, left)
		node = known_walk(node);
	spark_bench_keep(node);
	free(nodes);
}

static void bench_alloc(struct spark_bench *bench)
{
	unsigned long left;

	SPARK_BENCH_LOOP(bench, left)
		known_alloc();
}

static void bench_pipe(struct spark_bench *bench)
{
	struct known_echo echo;
	unsigned long left;

	known_echo_start(&echo);
	SPARK_BENCH_LOOP(bench, left)
		known_pipe(&echo);
	known_echo_stop(&echo);
}

static void bench_pages(struct spark_bench *bench)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE), page = 0;
	char *map = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long left;

	if (map == MAP_FAILED)
		target_die("mmap");
	madvise(map, PAGES * size, MADV_NOHUGEPAGE);
	SPARK_BENCH_LOOP(bench, left) {
		if (page == PAGES) {
			madvise(map, PAGES * size, MADV_DONTNEED);
			page = 0;
		}
		((volatile char *)map)[page++ * size] = 1;
	}
	munmap(map, PAGES * size);
}

static void bench_slow(struct spark_bench *bench)
{
	unsigned long left;

	SPARK_BENCH_LOOP(bench, left)
		usleep(200);
}

static void hook(void *data)
{
	usleep(2000);
	++*(int64_t *)data;
}

static void bench_between(struct spark_bench *bench)
{
	int64_t calls = 0;
	unsigned long left;

	spark_bench_between(bench, hook, &calls);
	SPARK_BENCH_LOOP(bench, left)
		known_alloc();
	target_value("between", calls);
}

static void bench_matrix(struct spark_bench *bench)
{
	unsigned long left, a = spark_bench_number(bench, "a");

	SPARK_BENCH_LOOP(bench, left)
		spark_bench_hide(a);
	if (strcmp(spark_bench_word(bench, "b"), "3M") == 0)
		target_value("matrix", (int64_t)(a * spark_bench_number(bench, "b")));
}

static void broken_break(struct spark_bench *bench)
{
	unsigned long left;

	SPARK_BENCH_LOOP(bench, left)
		if (left == 1)
			break;
}

static void broken_return(struct spark_bench *bench)
{
	unsigned long left;

	SPARK_BENCH_LOOP(bench, left)
		if (left == 1)
			return;
}

static void broken_parameter(struct spark_bench *bench)
{
	spark_bench_word(bench, "none");
}

static void broken_number(struct spark_bench *bench)
{
	spark_bench_number(bench, "a");
}

#define LONG "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct spark_bench_case cases[] = {
	{ "empty", bench_empty, NULL },
	{ "chain", bench_chain, NULL },
	{ "walk", bench_walk, NULL },
	{ "alloc", bench_alloc, NULL },
	{ "pipe", bench_pipe, NULL },
	{ "pages", bench_pages, NULL },
	{ "slow", bench_slow, NULL },
	{ "between", bench_between, NULL },
	{ "matrix", bench_matrix, "a=1,2 b=4K,x,3M" },
};

static const struct spark_bench_case broken[] = {
	{ "break", broken_break, NULL },
	{ "return", broken_return, NULL },
	{ "parameter", broken_parameter, "a=1" },
	{ "number", broken_number, "a=12Q" },
	{ "na me", bench_empty, NULL },
	{ "matrix", bench_empty, "a=1 b" },
	{ "twice", bench_empty, "a=1 b=2 a=3" },
	{ "bytes", bench_empty, "a=\xC3\xBC,\xC3" },
	{ "long", bench_empty, "a=" LONG " b=" LONG " c=" LONG },
};

int main(int argc, char **argv)
{
	int status = 2;

	setlocale(LC_ALL, "");
	if (argc < 3 || strcmp(argv[1], "broken") != 0)
		return spark_bench_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		if (strcmp(argv[2], broken[i].name) == 0)
			status = spark_bench_main(argc - 2, argv + 2, &broken[i], 1);
	return status;
}
