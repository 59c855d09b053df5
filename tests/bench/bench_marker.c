/* SPDX-License-Identifier: MIT */
/*
 * What a begin + end pair costs, against the floor: two bare readings of the counter.
 *
 *	bench_marker [ROUNDS]		with an agent: every form, on one thread and on two at once
 *	bench_marker ROUNDS dormant	without an agent
 *
 * Rounds of the floor and of each form alternate, so that a change of the machine's speed meets
 * both; the ratio is the median over rounds, each against the floor round beside it.
 */
#include "bench.h"

#include <pthread.h>
#include <spark/spark.h>

#define PAIRS 20000
#define NESTED 5
#define TURNS 256
#define SPINS 200
#define SPIN_NS 20000

static struct spark_region bench = SPARK_REGION("bench");
static struct spark_region flat = SPARK_REGION("flat");
static struct spark_region spin = SPARK_REGION("spin");
static struct spark_region both = SPARK_REGION("two");
static struct spark_region nested[NESTED] = {
	SPARK_REGION("nest-1"), SPARK_REGION("nest-2"), SPARK_REGION("nest-3"),
	SPARK_REGION("nest-4"), SPARK_REGION("nest-5"),
};
static struct spark_region turns[TURNS];
static char turn_names[TURNS][16];
static char dynamic[16] = "dynamic-name";

static volatile uint64_t sink;

static void run_floor(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < PAIRS; i++) {
		uint64_t begin = bench_ticks();

		sum += bench_ticks() - begin;
	}
	sink = sum;
}

#define NO_OPS() __asm__ volatile(".rept 70\n\tnop\n\t.endr" ::: "memory")

/* About as many instructions as a pair has, without what they do. */
static void run_no_ops(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < PAIRS; i++) {
		uint64_t begin = bench_ticks();

		NO_OPS();
		sum += bench_ticks() - begin;
		NO_OPS();
	}
	sink = sum;
}

static void run_flat(void)
{
	for (int i = 0; i < PAIRS; i++) {
		spark_begin(&flat);
		spark_end(&flat);
	}
}

static void run_nested(void)
{
	for (int i = 0; i < PAIRS / NESTED; i++) {
		for (int k = 0; k < NESTED; k++)
			spark_begin(&nested[k]);
		for (int k = NESTED; k-- > 0;)
			spark_end(&nested[k]);
	}
}

static void run_turns(void)
{
	for (int i = 0; i < PAIRS; i++) {
		struct spark_region *r = &turns[i % TURNS];

		spark_begin(r);
		spark_end(r);
	}
}

static void run_literal(void)
{
	for (int i = 0; i < PAIRS; i++) {
		spark_region_begin("literal");
		spark_region_end("literal");
	}
}

static void run_dynamic(void)
{
	for (int i = 0; i < PAIRS; i++) {
		spark_region_begin(dynamic);
		spark_region_end(dynamic);
	}
}

static void run_both(void)
{
	for (int i = 0; i < PAIRS; i++) {
		spark_begin(&both);
		spark_end(&both);
	}
}

static void run_empty(void)
{
	for (int i = 0; i < PAIRS; i++)
		__asm__ volatile("" ::: "memory");
}

static const struct form {
	const char *name;
	void (*run)(void);
} forms[] = {
	{ "no-ops", run_no_ops },
	{ "handle-flat", run_flat },
	{ "handle-nested", run_nested },
	{ "handle-turns", run_turns },
	{ "literal", run_literal },
	{ "dynamic", run_dynamic },
};

#define FORMS (int)(sizeof(forms) / sizeof(forms[0]))

/* ns a pair */
static double round_of(void (*run)(void))
{
	uint64_t begin = bench_ns();

	run();
	return (double)(bench_ns() - begin) / PAIRS;
}

static double ratios[FORMS][BENCH_ROUNDS_MAX], costs[FORMS][BENCH_ROUNDS_MAX];
static double floors[BENCH_ROUNDS_MAX];

static void measure_forms(int rounds)
{
	for (int k = 0; k < FORMS; k++)
		forms[k].run();
	for (int i = 0; i < rounds; i++) {
		for (int k = 0; k < FORMS; k++) {
			floors[i] = round_of(run_floor);
			costs[k][i] = round_of(forms[k].run);
			ratios[k][i] = costs[k][i] / floors[i];
		}
	}
	bench_figure("floor", 1, bench_median(floors, rounds), "ns");
	for (int k = 0; k < FORMS; k++)
		bench_figure(forms[k].name, bench_median(ratios[k], rounds),
			     bench_median(costs[k], rounds), "ns");
}

/* A region of known length: what the report's percentiles are compared with. */
static void measure_spin(void)
{
	static double length[SPINS];

	for (int i = 0; i < SPINS; i++) {
		uint64_t begin, end;

		spark_begin(&spin);
		begin = bench_ns();
		do
			end = bench_ns();
		while (end - begin < SPIN_NS);
		spark_end(&spin);
		length[i] = (double)(end - begin);
	}
	bench_value("spin-p50", bench_median(length, SPINS));
	bench_done("spin", SPINS);
}

static pthread_barrier_t gate;

struct one_of_two {
	int cpu;
	int rounds;
	double floors[BENCH_ROUNDS_MAX];
	double costs[BENCH_ROUNDS_MAX];
};

static void *one_of_two(void *arg)
{
	struct one_of_two *o = arg;

	bench_pin(o->cpu);
	run_both();
	for (int i = 0; i < o->rounds; i++) {
		pthread_barrier_wait(&gate);
		o->floors[i] = round_of(run_floor);
		pthread_barrier_wait(&gate);
		o->costs[i] = round_of(run_both);
	}
	return NULL;
}

/* The worse of the two threads. */
static void measure_two(int rounds)
{
	static struct one_of_two two[2];
	double ratio = 0, cost = 0;
	pthread_t threads[2];

	if (bench_cpu(1) < 0)
		return;
	pthread_barrier_init(&gate, NULL, 2);
	for (int i = 0; i < 2; i++) {
		two[i].cpu = bench_cpu(i);
		two[i].rounds = rounds;
		errno = pthread_create(&threads[i], NULL, one_of_two, &two[i]);
		if (errno)
			bench_die("pthread_create");
	}
	for (int i = 0; i < 2; i++) {
		double least;

		pthread_join(threads[i], NULL);
		least = bench_min(two[i].costs, rounds);
		if (least / bench_min(two[i].floors, rounds) > ratio) {
			ratio = least / bench_min(two[i].floors, rounds);
			cost = least;
		}
	}
	bench_figure("handle-two-threads", ratio, cost, "ns");
	bench_done("two", 2 * (uint64_t)PAIRS * (uint64_t)(rounds + 1));
}

static void claim(int rounds)
{
	uint64_t pairs = (uint64_t)PAIRS * (uint64_t)(rounds + 1);

	bench_done("flat", pairs);
	for (int k = 0; k < NESTED; k++)
		bench_done(nested[k].name, pairs / NESTED);
	for (int k = 0; k < TURNS; k++)
		bench_done(turn_names[k],
			   (uint64_t)(rounds + 1) * (PAIRS / TURNS + (k < PAIRS % TURNS)));
	bench_done("literal", pairs);
	bench_done("dynamic-name", pairs);
}

static void measure_live(int rounds)
{
	uint64_t cpu;

	for (int k = 0; k < TURNS; k++) {
		snprintf(turn_names[k], sizeof(turn_names[k]), "turn-%03d", k);
		turns[k].name = turn_names[k];
	}
	measure_two(rounds);
	bench_pin(bench_cpu(0));
	spark_begin(&bench);
	cpu = bench_clock(CLOCK_THREAD_CPUTIME_ID);
	measure_forms(rounds);
	measure_spin();
	bench_value("bench-cpu", (double)(bench_clock(CLOCK_THREAD_CPUTIME_ID) - cpu));
	spark_end(&bench);
	claim(rounds);
}

/* The empty loop is subtracted: so little is left that it would be most of it. */
static void measure_dormant(int rounds)
{
	bench_pin(bench_cpu(0));
	for (int i = 0; i < rounds; i++) {
		double empty = round_of(run_empty);

		floors[i] = round_of(run_floor) - empty;
		costs[0][i] = round_of(run_flat) - empty;
		ratios[0][i] = costs[0][i] / floors[i];
		costs[1][i] = round_of(run_literal) - empty;
		ratios[1][i] = costs[1][i] / floors[i];
	}
	bench_figure("dormant-handle", bench_median(ratios[0], rounds),
		     bench_median(costs[0], rounds), "ns");
	bench_figure("dormant-literal", bench_median(ratios[1], rounds),
		     bench_median(costs[1], rounds), "ns");
}

int main(int argc, char **argv)
{
	int rounds = bench_arg(argc, argv, 1, 201);

	if (rounds < 1 || rounds > BENCH_ROUNDS_MAX)
		rounds = 201;
	if (argc > 2 && !strcmp(argv[2], "dormant"))
		measure_dormant(rounds);
	else
		measure_live(rounds);
	return 0;
}
