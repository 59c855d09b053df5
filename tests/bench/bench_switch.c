/* SPDX-License-Identifier: MIT */
/*
 * What it costs a thread to be switched out and in again when the agent watches it.
 *
 *	bench_switch DETECTOR [ROUNDS]		DETECTOR is how the figures are called
 *
 * Pairs of threads play ping-pong over pipes on one processor; in a cycle each is switched out
 * and in once. The pairs take turns within one process, so that all pay alike for what sparkctl
 * counts from outside:
 *
 *	plain	no marker was ever used: the agent does not know these threads
 *	one	one thread has used a marker, and its detector is armed again before each read
 *	both	both threads have
 *	marked	both have a begin + end pair around each read, so a reading of the thread's CPU
 *		clock after each switch, too
 */
#include "bench.h"

#include <linux/rseq.h>
#include <pthread.h>
#include <spark/spark.h>
#include <stddef.h>

#define CYCLES 2000

enum kind { PLAIN, ONE, BOTH, MARKED, KINDS };

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static struct spark_region wait_region = SPARK_REGION("wait");

struct player {
	enum kind kind;
	int in;
	int out;
	int rounds;
	volatile uint64_t *armed;	/* the word of the thread's rseq area */
	uint64_t value;			/* what an armed detector has there; 0: another one */
};

struct pair {
	struct player first;		/* measures */
	struct player second;
	int go[2];
	int done[2];
	double cycle[BENCH_ROUNDS_MAX];
};

static struct pair pairs[KINDS];

static void get(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		bench_die("read");
}

static void put(int fd)
{
	if (write(fd, "", 1) != 1)
		bench_die("write");
}

/* After a marker the word holds what the agent put there; 0: it uses something else. */
static void player_begin(struct player *p)
{
	static uint64_t nothing;

	bench_pin(bench_cpu(0));
	p->armed = &nothing;
	if (p->kind == PLAIN)
		return;
	spark_begin(&wait_region);
	spark_end(&wait_region);
	if (!&__rseq_size || !__rseq_size)
		return;
	p->armed = (volatile uint64_t *)((char *)__builtin_thread_pointer() + __rseq_offset +
					 offsetof(struct rseq, rseq_cs));
	for (int i = 0; i < 100 && !p->value; i++) {
		spark_begin(&wait_region);
		spark_end(&wait_region);
		p->value = *p->armed;
	}
	if (!p->value)
		p->armed = &nothing;
}

static void receive(struct player *p)
{
	if (p->kind == MARKED) {
		spark_begin(&wait_region);
		get(p->in);
		spark_end(&wait_region);
	} else {
		if (p->kind != PLAIN)
			*p->armed = p->value;
		get(p->in);
	}
}

static void *play_first(void *arg)
{
	struct pair *pair = arg;
	struct player *p = &pair->first;

	player_begin(p);
	for (int i = 0; i < p->rounds; i++) {
		uint64_t begin;

		get(pair->go[0]);
		begin = bench_ns();
		for (int k = 0; k < CYCLES; k++) {
			put(p->out);
			receive(p);
		}
		pair->cycle[i] = (double)(bench_ns() - begin) / CYCLES;
		put(pair->done[1]);
	}
	return NULL;
}

static void *play_second(void *arg)
{
	struct player *p = arg;

	player_begin(p);
	for (int i = 0; i < p->rounds * CYCLES; i++) {
		receive(p);
		put(p->out);
	}
	return NULL;
}

static void pair_start(struct pair *pair, enum kind kind, int rounds, pthread_t threads[2])
{
	int ping[2], pong[2];

	if (pipe(ping) || pipe(pong) || pipe(pair->go) || pipe(pair->done))
		bench_die("pipe");
	pair->first = (struct player){ .kind = kind, .in = pong[0], .out = ping[1] };
	pair->second = (struct player){ .kind = kind, .in = ping[0], .out = pong[1] };
	pair->first.rounds = pair->second.rounds = rounds;
	if (kind == ONE)
		pair->second.kind = PLAIN;
	errno = pthread_create(&threads[0], NULL, play_first, pair);
	if (!errno)
		errno = pthread_create(&threads[1], NULL, play_second, &pair->second);
	if (errno)
		bench_die("pthread_create");
}

static void report(const char *detector, const char *kind, const struct pair *with, int rounds)
{
	static double added[BENCH_ROUNDS_MAX], part[BENCH_ROUNDS_MAX];
	char name[64];

	for (int i = 0; i < rounds; i++) {
		added[i] = with->cycle[i] - pairs[PLAIN].cycle[i];
		part[i] = added[i] / pairs[PLAIN].cycle[i];
	}
	snprintf(name, sizeof(name), "switch-%s-%s", detector, kind);
	bench_figure(name, bench_median(part, rounds), bench_median(added, rounds), "ns");
}

int main(int argc, char **argv)
{
	const char *detector = argc > 1 ? argv[1] : "any";
	int rounds = bench_arg(argc, argv, 2, 101);
	pthread_t threads[KINDS][2];
	static double plain[BENCH_ROUNDS_MAX];

	if (rounds < 1 || rounds > BENCH_ROUNDS_MAX)
		rounds = 101;
	for (int k = 0; k < KINDS; k++)
		pair_start(&pairs[k], (enum kind)k, rounds, threads[k]);
	for (int i = 0; i < rounds; i++)
		for (int k = 0; k < KINDS; k++) {
			put(pairs[k].go[1]);
			get(pairs[k].done[0]);
		}
	for (int k = 0; k < KINDS; k++)
		for (int i = 0; i < 2; i++)
			pthread_join(threads[k][i], NULL);
	memcpy(plain, pairs[PLAIN].cycle, sizeof(plain));
	bench_value("cycle", bench_median(plain, rounds));
	bench_value("armed", pairs[ONE].first.value != 0);
	report(detector, "one", &pairs[ONE], rounds);
	report(detector, "both", &pairs[BOTH], rounds);
	report(detector, "marked", &pairs[MARKED], rounds);
	return 0;
}
