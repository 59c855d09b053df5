// SPDX-License-Identifier: MIT
// The same code measured by spark/bench.h and by google-benchmark, in turn: between two samples of the one the other
// takes one. The results of bench.h go where its options say; a line for each case has the median of the other's.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <benchmark/benchmark.h>
#include <spark/bench.h>

#include "known.h"

static unsigned long chained = 3;
static known_node *node;
static known_echo echo;

static inline void chain() { chained = known_chain(chained); }
static inline void walk() { node = known_walk(node); }
static inline void alloc() { known_alloc(); }
static inline void round_trip() { known_pipe(&echo); }

class Kept : public benchmark::BenchmarkReporter {
public:
	bool ReportContext(const Context &) override { return true; }
	void ReportRuns(const std::vector<Run> &runs) override
	{
		for (const Run &run : runs)
			times.push_back(run.GetAdjustedRealTime());
	}
	std::vector<double> times;
};

static Kept *kept;

template <void (*body)()> static void google(benchmark::State &state)
{
	for (auto _ : state)
		body();
}

// As many iterations as the samples of the one have: left to itself the other takes the first run that is long
// enough, and one that was disturbed is.
template <void (*body)()> static void theirs(void *data)
{
	const spark_bench *bench = static_cast<const spark_bench *>(data);

	benchmark::ClearRegisteredBenchmarks();
	benchmark::RegisterBenchmark(bench->name, google<body>)
		->Iterations(static_cast<benchmark::IterationCount>(bench->iterations))->UseRealTime();
	benchmark::RunSpecifiedBenchmarks(kept, ".");
}

template <void (*body)()> static void ours(struct spark_bench *bench)
{
	unsigned long left;

	kept->times.clear();
	spark_bench_between(bench, theirs<body>, bench);
	SPARK_BENCH_LOOP(bench, left)
		body();
	// Those of the warm-up are the first.
	std::vector<double> last(kept->times.end() - SPARK_BENCH_SAMPLES, kept->times.end());
	std::sort(last.begin(), last.end());
	printf("%s %.6f\n", bench->name, (last[SPARK_BENCH_SAMPLES / 2 - 1] + last[SPARK_BENCH_SAMPLES / 2]) / 2);
}

int main(int argc, char **argv)
{
	static const spark_bench_case cases[] = {
		{ "chain", ours<chain>, nullptr },
		{ "walk", ours<walk>, nullptr },
		{ "alloc", ours<alloc>, nullptr },
		{ "pipe", ours<round_trip>, nullptr },
	};
	Kept reporter;
	int status;

	kept = &reporter;
	node = known_ring();
	known_echo_start(&echo);
	status = spark_bench_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
	known_echo_stop(&echo);
	return status;
}
