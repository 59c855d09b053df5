/* SPDX-License-Identifier: MIT */
/*
 * microbench - benchmarks of small functions with spark/bench.h. Copy from it what you need.
 *
 *	cc -O2 -o microbench microbench.c
 *	./microbench                                             times
 *	sparkctl run --metrics wall,units,minflt -- ./microbench times, and a report of what was counted
 *	sparkctl run --profile -- ./microbench --bench-passes=profile --bench-filter=hash
 *
 *	hash      a loop over text: a parameter, a value that must not be optimized away
 *	list      a step along a linked list that is in order or shuffled: two parameters, all combined
 *	cold      the same, but what the caches have is spoiled before each sample
 *	malloc    no parameter, nothing to prepare
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spark/bench.h>

enum { CACHES = 64 << 20 };

struct node {
	struct node *next;
	char rest[56];
};

static void *get(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		exit(1);
	memset(memory, 1, size);
	return memory;
}

/* FNV-1a */
static uint64_t hash_of(const char *text, size_t size)
{
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
	return hash;
}

static void hash(struct spark_bench *bench)
{
	unsigned long left, size = spark_bench_number(bench, "size");
	char *text = get(size);

	SPARK_BENCH_LOOP(bench, left)
		spark_bench_keep(hash_of(text, size));
	free(text);
}

/* One ring, by Sattolo's algorithm if it is to be shuffled. */
static struct node *ring(size_t count, int shuffled)
{
	struct node *nodes = get(count * sizeof(*nodes));

	for (size_t i = 0; i < count; i++)
		nodes[i].next = &nodes[shuffled ? i : (i + 1) % count];
	for (size_t i = count - 1; shuffled && i > 0; i--) {
		size_t j = (size_t)rand() % i;
		struct node *next = nodes[i].next;

		nodes[i].next = nodes[j].next;
		nodes[j].next = next;
	}
	return nodes;
}

static void walk(struct spark_bench *bench, const char *order)
{
	unsigned long left, size = spark_bench_number(bench, "size");
	struct node *nodes = ring(size / sizeof(*nodes), strcmp(order, "shuffled") == 0), *node = nodes;

	SPARK_BENCH_LOOP(bench, left) {
		node = node->next;
		/* Each step is taken, one after the other. */
		spark_bench_hide(node);
	}
	free(nodes);
}

static void list(struct spark_bench *bench)
{
	walk(bench, spark_bench_word(bench, "order"));
}

static void spoil(void *memory)
{
	memset(memory, 2, CACHES);
}

static void cold(struct spark_bench *bench)
{
	void *memory = get(CACHES);

	spark_bench_between(bench, spoil, memory);
	walk(bench, "shuffled");
	free(memory);
}

static void allocate(struct spark_bench *bench)
{
	unsigned long left;

	SPARK_BENCH_LOOP(bench, left) {
		void *memory = malloc(100);

		spark_bench_keep(memory);
		free(memory);
	}
}

static const struct spark_bench_case cases[] = {
	{ "hash", hash, "size=16,4K" },
	{ "list", list, "size=16K,64M order=sorted,shuffled" },
	{ "cold", cold, "size=1M" },
	{ "malloc", allocate, NULL },
};

int main(int argc, char **argv)
{
	return spark_bench_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
