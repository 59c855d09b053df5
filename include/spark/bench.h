/* SPDX-License-Identifier: MIT */
/*
 * bench.h - micro-benchmarks in a program of their own, timed alone and counted apart.
 *
 *	#include <spark/bench.h>
 *
 *	static void hash(struct spark_bench *bench)
 *	{
 *		unsigned long left, size = spark_bench_number(bench, "size");
 *		char *text = make_text(size);
 *
 *		SPARK_BENCH_LOOP(bench, left)
 *			spark_bench_keep(hash_of(text, size));
 *		free(text);
 *	}
 *
 *	static const struct spark_bench_case cases[] = { { "hash", hash, "size=16,4K" } };
 *
 *	int main(int argc, char **argv)
 *	{
 *		return spark_bench_main(argc, argv, cases, 1);
 *	}
 *
 *	$ ./program                       a table of times
 *	$ sparkctl run -- ./program       the same, and a report of what was counted
 *
 * Headers are all there is, no library to link. C89 to C23, C++98 to C++20, gcc and clang, on
 * Linux with 64 bits. A program may have several files that include it.
 *
 * What is done with each benchmark, a case at one point of its matrix:
 *
 *  - Warm-up: the iterations of a sample double until one takes 5 ms, and so does the next.
 *  - Timing: 32 samples. Their median, MAD (the median distance from the median), least and
 *    greatest are the benchmark's times, an iteration. No marker is met.
 *  - Counting: as many iterations, at most 100,000, in the region "counting;NAME" with iterations
 *    as units, so that a report of sparkctl has what its counters say of them.
 *  - Profile, if --bench-passes asks for it: a second of samples, each a call of "profile;NAME".
 *
 * Times and counts are of different iterations: counting leaves the timing as it is. Names that
 * end in an underscore are internal.
 */
#ifndef SPARK_BENCH_H
#define SPARK_BENCH_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <spark/spark.h>

/* Times are longs of ns, which of 32 bits would end at 4 s. */
#if __SIZEOF_LONG__ < 8
#error "spark/bench.h is for machines of 64 bits"
#endif

#define SPARK_BENCH_SAMPLES 32
#define SPARK_BENCH_COUNTED 100000UL
#define SPARK_BENCH_NAME_SIZE 256

#ifdef __cplusplus
#define SPARK_BENCH_CAST_(type, value) static_cast<type>(value)
extern "C" {
#else
#define SPARK_BENCH_CAST_(type, value) ((type)(value))
#endif

#define SPARK_BENCH_FN_ SPARK_COLD_LINKAGE_ SPARK_ATTR_((noinline, no_instrument_function))

struct spark_bench;

/*
 * A case. name, and the names and values in matrix: without spaces, quotes and any of  \ , / * ?
 * in UTF-8.
 *
 * run: prepares what it needs, has one SPARK_BENCH_LOOP, and puts all away; called once for each
 * point. matrix: parameters with their values, "size=16,4K order=random,sorted", all of which are
 * combined, the last one turning fastest; null: none.
 */
struct spark_bench_case {
	const char *name;
	void (*run)(struct spark_bench *bench);
	const char *matrix;
};

enum spark_bench_pass_ {
	SPARK_BENCH_WARM_,
	SPARK_BENCH_TIMING_,
	SPARK_BENCH_COUNTING_,
	SPARK_BENCH_PROFILE_,
	SPARK_BENCH_DONE_
};

struct spark_bench_options_ {
	const char *program;
	const char *filter;
	const char *report;
	FILE *out;
	unsigned long min_ns;
	unsigned passes;	/* bits of enum spark_bench_pass_ */
	int list, json, help, ticker;
	int width;		/* of the longest name */
	unsigned long rows;
};

/* One benchmark at work. All but the name is internal. */
struct spark_bench {
	const char *name;	/* "hash/size=4K" */
	struct spark_bench_options_ *options;
	void (*between)(void *data);
	void *data;
	enum spark_bench_pass_ pass;
	int sample, met;
	unsigned long iterations;	/* of a sample */
	unsigned long running;		/* of the batch that runs; 0: none */
	unsigned long counted, profiled, profile_ns;
	unsigned long start_ns, tick_ns;
	struct rusage before;
	long faults, switches;
	double samples[SPARK_BENCH_SAMPLES];
	char text[SPARK_BENCH_NAME_SIZE];
	char words[SPARK_BENCH_NAME_SIZE];	/* the same, zero bytes for slashes */
};

/*
 * spark_bench_keep - a value is needed: what it takes to make it is not optimized away, and writes
 * before are done. value: a scalar, or a variable of any type.
 *
 * spark_bench_hide - an integer or pointer may have changed: nothing is known of its value, so that
 * what follows from it has to be computed.
 */
#define spark_bench_keep(value) __asm__ __volatile__("" : : "g"(value) : "memory")
#define spark_bench_hide(variable) __asm__ __volatile__("" : "+r"(variable))

/* An iteration is one, whatever the body: neither left out nor made one with the next. */
SPARK_INLINE_ void spark_bench_step_(void)
{
	__asm__ __volatile__("");
}

/*
 * Stepping and testing would be all there is of a short body. gcc does not unroll a loop that is all
 * there is of another one: hence a step there, too.
 */
#if defined(__clang__) || __GNUC__ >= 8
#define SPARK_BENCH_UNROLL_ _Pragma("GCC unroll 8")
#else
#define SPARK_BENCH_UNROLL_
#endif

/*
 * SPARK_BENCH_LOOP - the loop that is measured; the statement behind it is an iteration. It must
 * not be left by break, goto or return. Nothing outside is timed.
 *
 * left: an unsigned long of the function's own, which counts down; of another size it does not
 * compile.
 */
#define SPARK_BENCH_LOOP(bench, left) \
	for ((left) = 0 * sizeof(char[sizeof(left) == sizeof(long) ? 1 : -1]); \
	     ((left) = spark_bench_next_((bench), (left))) != 0; spark_bench_step_()) \
		SPARK_BENCH_UNROLL_ \
		for (; (left) != 0; spark_bench_step_(), (left)--)

/* Strict C hides clock_gettime(2), and a header comes too late to ask for it. */
#if !defined(CLOCK_MONOTONIC) && defined(__LP64__)
#define SPARK_BENCH_MONOTONIC_ 1
struct spark_bench_timespec_ {
	long tv_sec;
	long tv_nsec;
};
int spark_bench_gettime_(int clock, struct spark_bench_timespec_ *time) __asm__("clock_gettime");
#else
#define SPARK_BENCH_MONOTONIC_ CLOCK_MONOTONIC
#define spark_bench_timespec_ timespec
#define spark_bench_gettime_ clock_gettime
#endif

SPARK_BENCH_FN_ unsigned long spark_bench_clock_(void)
{
	struct spark_bench_timespec_ now;

	spark_bench_gettime_(SPARK_BENCH_MONOTONIC_, &now);
	return SPARK_BENCH_CAST_(unsigned long, now.tv_sec) * 1000000000UL +
	       SPARK_BENCH_CAST_(unsigned long, now.tv_nsec);
}

/* One sentence; the status of wrong usage. */
SPARK_BENCH_FN_ SPARK_ATTR_((format(printf, 2, 3)))
int spark_bench_error_(const struct spark_bench_options_ *o, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s%s: ", o->ticker ? "\r\033[K" : "", o->program);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("\n", stderr);
	return 2;
}

/* ---- one benchmark --------------------------------------------------------------------------------- */

/* Of what was said on the terminal nothing stays. */
SPARK_BENCH_FN_ void spark_bench_tick_(struct spark_bench *b)
{
	static const char *const passes[] = { "warm-up", "timing", "counting", "profile" };
	unsigned long now;

	if (!b->options->ticker)
		return;
	now = spark_bench_clock_();
	if (now - b->tick_ns < 100000000UL)
		return;
	b->tick_ns = now;
	fprintf(stderr, "\r%s: %s", b->name, passes[b->pass]);
	if (b->pass == SPARK_BENCH_TIMING_)
		fprintf(stderr, " %d of %d", b->sample + 1, SPARK_BENCH_SAMPLES);
	fputs("\033[K", stderr);
	fflush(stderr);
}

/* The next pass that was asked for. */
SPARK_BENCH_FN_ void spark_bench_advance_(struct spark_bench *b)
{
	unsigned pass = b->pass;

	do
		pass++;
	while (pass < SPARK_BENCH_DONE_ && !(b->options->passes & (1U << pass)));
	b->pass = SPARK_BENCH_CAST_(enum spark_bench_pass_, pass);
}

/* A batch is over. The bound is for bodies of which compilers leave nothing. */
SPARK_BENCH_FN_ void spark_bench_account_(struct spark_bench *b, unsigned long ns)
{
	switch (b->pass) {
	case SPARK_BENCH_WARM_:
		/* Twice, as one may have taken long for reasons of the machine. */
		if (ns < b->options->min_ns && b->iterations < ~0UL / 4) {
			b->iterations *= 2;
			b->met = 0;
		} else if (++b->met == 2) {
			spark_bench_advance_(b);
		}
		break;
	case SPARK_BENCH_TIMING_:
		b->samples[b->sample++] = SPARK_BENCH_CAST_(double, ns) /
					  SPARK_BENCH_CAST_(double, b->running);
		if (b->sample == SPARK_BENCH_SAMPLES)
			spark_bench_advance_(b);
		break;
	case SPARK_BENCH_COUNTING_:
		b->counted = b->running;
		spark_bench_advance_(b);
		break;
	default:
		b->profiled += b->running;
		b->profile_ns += ns;
		if (b->profile_ns >= 1000000000UL)
			spark_bench_advance_(b);
	}
}

SPARK_BENCH_FN_ void spark_bench_used_(struct spark_bench *b)
{
	struct rusage now;

	getrusage(RUSAGE_SELF, &now);
	b->faults = now.ru_minflt + now.ru_majflt - b->before.ru_minflt - b->before.ru_majflt;
	b->switches = now.ru_nvcsw + now.ru_nivcsw - b->before.ru_nvcsw - b->before.ru_nivcsw;
}

/* The regions that are open around a batch of these passes; the inner one has the benchmark's name. */
SPARK_BENCH_FN_ const char *spark_bench_region_(const struct spark_bench *b)
{
	return b->pass == SPARK_BENCH_COUNTING_ ? "counting" : b->pass == SPARK_BENCH_PROFILE_ ? "profile" : SPARK_NULL_;
}

SPARK_BENCH_FN_ void spark_bench_end_(struct spark_bench *b)
{
	const char *region = spark_bench_region_(b);
	unsigned long now;

	if (region)
		spark_region_end(b->name);
	now = spark_bench_clock_();
	if (region) {
		if (b->pass == SPARK_BENCH_COUNTING_)
			spark_bench_used_(b);
		spark_region_units(b->name, b->running, "iterations");
		spark_region_end(region);
	}
	spark_bench_account_(b, now - b->start_ns);
}

/* The region begins last and ends first, so that it has nothing of ours. */
SPARK_BENCH_FN_ void spark_bench_begin_(struct spark_bench *b)
{
	const char *region = spark_bench_region_(b);

	if (b->between)
		b->between(b->data);
	if (region) {
		spark_region_begin(region);
		getrusage(RUSAGE_SELF, &b->before);
	}
	b->start_ns = spark_bench_clock_();
	if (region)
		spark_region_begin(b->name);
}

/* Ends the batch that ran, of which `left` iterations are left, and begins the next; 0: there is none. */
SPARK_BENCH_FN_ unsigned long spark_bench_next_(struct spark_bench *b, unsigned long left)
{
	if (b->running)
		spark_bench_end_(b);
	if (left)
		exit(spark_bench_error_(b->options, "%s: its loop was left by a break", b->name));
	b->running = 0;
	if (b->pass == SPARK_BENCH_DONE_)
		return 0;
	spark_bench_tick_(b);
	b->running = b->iterations;
	if (b->pass == SPARK_BENCH_COUNTING_ && b->running > SPARK_BENCH_COUNTED)
		b->running = SPARK_BENCH_COUNTED;
	spark_bench_begin_(b);
	return b->running;
}

/*
 * spark_bench_between - what is to be done before each sample, untimed and uncounted: to bring back
 * what a sample has used up, or to spoil the caches. Called in `run`, before the loop.
 */
SPARK_BENCH_FN_ void spark_bench_between(struct spark_bench *bench, void (*hook)(void *data), void *data)
{
	bench->between = hook;
	bench->data = data;
}

/*
 * spark_bench_word, spark_bench_number - the value of a parameter at this point of the matrix, as text
 * and as a number, 4K being 4096. Asking for what the matrix does not have ends the program.
 */
SPARK_BENCH_FN_ const char *spark_bench_word(struct spark_bench *bench, const char *parameter)
{
	size_t length = strlen(parameter);
	const char *word = bench->words + strlen(bench->words) + 1;

	for (; *word; word += strlen(word) + 1)
		if (!strncmp(word, parameter, length) && word[length] == '=')
			return word + length + 1;
	exit(spark_bench_error_(bench->options, "%s: has no parameter '%s'", bench->name, parameter));
}

SPARK_BENCH_FN_ unsigned long spark_bench_number(struct spark_bench *bench, const char *parameter)
{
	static const char suffixes[] = "KMG";
	const char *word = spark_bench_word(bench, parameter), *suffix;
	char *end;
	unsigned long n = strtoul(word, &end, 10);

	suffix = *end ? strchr(suffixes, *end) : SPARK_NULL_;
	if (*word < '0' || *word > '9' || (*end && (!suffix || end[1])))
		exit(spark_bench_error_(bench->options, "%s: '%s' is no number", bench->name, word));
	return suffix ? n << (10 * (suffix - suffixes + 1)) : n;
}

#include <spark/bench_results.h>
#include <spark/bench_program.h>

#ifdef __cplusplus
}
#endif

#endif /* SPARK_BENCH_H */
