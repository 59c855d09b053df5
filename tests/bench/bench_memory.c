/* SPDX-License-Identifier: MIT */
/*
 * Memory of the segment that a program touches: 16 threads alive at once, each with regions whose
 * durations differ. The program shares no other memory, so all of RssShmem is the segment.
 *
 *	bench_memory [REGIONS [CALLS [THREADS]]]	100, 50 and 16; recordings are measured with others
 */
#include "bench.h"

#include <pthread.h>
#include <spark/spark.h>

#define THREADS_MAX 16
#define REGIONS_MAX 10000
#define LIMIT_KIB 8192

static struct spark_region regions[REGIONS_MAX];
static char names[REGIONS_MAX][16];
static int nregions, calls, nthreads;
static pthread_barrier_t gate;

static long shared_kib(void)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "RssShmem:", 9))
			kib = atol(line + 9);
	if (kib < 0)
		bench_die("/proc/self/status");
	fclose(f);
	return kib;
}

static void *work(void *arg)
{
	for (int i = 0; i < calls; i++)
		for (int k = 0; k < nregions; k++) {
			spark_begin(&regions[k]);
			for (volatile int spin = 0; spin < i * i; spin++)
				;
			spark_end(&regions[k]);
		}
	pthread_barrier_wait(&gate);
	pthread_barrier_wait(&gate);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	long before = shared_kib(), after;

	nregions = bench_arg(argc, argv, 1, 100);
	calls = bench_arg(argc, argv, 2, 50);
	if (nregions < 1 || nregions > REGIONS_MAX)
		nregions = REGIONS_MAX;
	nthreads = bench_arg(argc, argv, 3, THREADS_MAX);
	if (nthreads < 1 || nthreads > THREADS_MAX)
		nthreads = THREADS_MAX;
	for (int k = 0; k < nregions; k++) {
		snprintf(names[k], sizeof(names[k]), "region-%03d", k);
		regions[k].name = names[k];
	}
	pthread_barrier_init(&gate, NULL, (unsigned int)nthreads + 1);
	for (int i = 0; i < nthreads; i++) {
		errno = pthread_create(&threads[i], NULL, work, NULL);
		if (errno)
			bench_die("pthread_create");
	}
	pthread_barrier_wait(&gate);
	after = shared_kib();
	pthread_barrier_wait(&gate);
	for (int i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	bench_value("before", (double)before);
	bench_figure("memory", (double)after / LIMIT_KIB, (double)after, "KiB");
	bench_done("region-000", (uint64_t)nthreads * (uint64_t)calls);
	return 0;
}
