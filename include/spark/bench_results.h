/* SPDX-License-Identifier: MIT */
/*
 * bench_results.h - a benchmark's results: median and spread, a row of the table, an object of JSON.
 * It is a part of bench.h, which includes it; all in it is internal.
 */
#ifndef SPARK_BENCH_RESULTS_H
#define SPARK_BENCH_RESULTS_H

#ifndef SPARK_BENCH_H
#error "include <spark/bench.h>"
#endif

struct spark_bench_times_ {
	double median, mad, min, max;
};

SPARK_BENCH_FN_ int spark_bench_order_(const void *a, const void *b)
{
	double x = *SPARK_BENCH_CAST_(const double *, a), y = *SPARK_BENCH_CAST_(const double *, b);

	return (x > y) - (x < y);
}

/* Sorts. */
SPARK_BENCH_FN_ double spark_bench_median_(double *values)
{
	qsort(values, SPARK_BENCH_SAMPLES, sizeof(*values), spark_bench_order_);
	return (values[SPARK_BENCH_SAMPLES / 2 - 1] + values[SPARK_BENCH_SAMPLES / 2]) / 2;
}

SPARK_BENCH_FN_ void spark_bench_judge_(const struct spark_bench *b, struct spark_bench_times_ *times)
{
	double values[SPARK_BENCH_SAMPLES];
	int i;

	memcpy(values, b->samples, sizeof(values));
	times->median = spark_bench_median_(values);
	times->min = values[0];
	times->max = values[SPARK_BENCH_SAMPLES - 1];
	for (i = 0; i < SPARK_BENCH_SAMPLES; i++)
		values[i] = values[i] < times->median ? times->median - values[i] : values[i] - times->median;
	times->mad = spark_bench_median_(values);
}

/* Not by %f: its decimal point is the locale's. */
SPARK_BENCH_FN_ const char *spark_bench_fixed_(char *to, double value, int places)
{
	unsigned long scale = 1, n;
	int i;

	for (i = 0; i < places; i++)
		scale *= 10;
	n = SPARK_BENCH_CAST_(unsigned long, value * SPARK_BENCH_CAST_(double, scale) + 0.5);
	i = sprintf(to, "%lu", n / scale);
	if (places)
		sprintf(to + i, ".%0*lu", places, n % scale);
	return to;
}

/* Three digits that count. */
SPARK_BENCH_FN_ const char *spark_bench_short_(char *to, double value)
{
	return spark_bench_fixed_(to, value, value >= 99.95 || value <= 0 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3);
}

SPARK_BENCH_FN_ const char *spark_bench_time_(char *to, double ns)
{
	static const char units[4][4] = { " ns", " us", " ms", " s" };
	int unit = 0;

	for (; ns >= 999.5 && unit < 3; unit++)
		ns /= 1000;
	spark_bench_short_(to, ns);
	return strcat(to, units[unit]);
}

SPARK_BENCH_FN_ void spark_bench_head_(const struct spark_bench_options_ *o)
{
	fprintf(o->out, "%-*s %9s %7s %9s %9s %12s %8s %8s\n", o->width, "benchmark", "median", "MAD", "min", "max",
		"iterations", "faults", "switches");
}

SPARK_BENCH_FN_ void spark_bench_row_(const struct spark_bench *b)
{
	const struct spark_bench_options_ *o = b->options;
	double counted = SPARK_BENCH_CAST_(double, b->counted);
	struct spark_bench_times_ times;
	char text[6][32] = { "-", "-", "-", "-", "-", "-" };

	if (o->passes & 1U << SPARK_BENCH_TIMING_) {
		spark_bench_judge_(b, &times);
		spark_bench_time_(text[0], times.median);
		spark_bench_fixed_(text[1], times.median > 0 ? 100 * times.mad / times.median : 0, 1);
		strcat(text[1], " %");
		spark_bench_time_(text[2], times.min);
		spark_bench_time_(text[3], times.max);
	}
	if (b->counted) {
		spark_bench_short_(text[4], SPARK_BENCH_CAST_(double, b->faults) / counted);
		spark_bench_short_(text[5], SPARK_BENCH_CAST_(double, b->switches) / counted);
	}
	fprintf(o->out, "%-*s %9s %7s %9s %9s %12lu %8s %8s\n", o->width, b->name, text[0], text[1], text[2], text[3],
		b->iterations, text[4], text[5]);
}

SPARK_BENCH_FN_ void spark_bench_json_times_(const struct spark_bench *b)
{
	FILE *out = b->options->out;
	struct spark_bench_times_ times;
	char text[4][32];
	int i;

	spark_bench_judge_(b, &times);
	fprintf(out, ", \"median_ns\": %s, \"mad_ns\": %s, \"min_ns\": %s, \"max_ns\": %s,\n   \"samples_ns\": [",
		spark_bench_fixed_(text[0], times.median, 6), spark_bench_fixed_(text[1], times.mad, 6),
		spark_bench_fixed_(text[2], times.min, 6), spark_bench_fixed_(text[3], times.max, 6));
	for (i = 0; i < SPARK_BENCH_SAMPLES; i++)
		fprintf(out, "%s%s", i ? ", " : "", spark_bench_fixed_(text[0], b->samples[i], 6));
	fputs("]", out);
}

SPARK_BENCH_FN_ void spark_bench_json_(const struct spark_bench *b)
{
	FILE *out = b->options->out;
	const char *word = b->words + strlen(b->words) + 1, *comma;
	size_t length;

	fprintf(out, "%s\n  {\"name\": \"%s\", \"case\": \"%s\", \"parameters\": {", b->options->rows ? "," : "", b->name,
		b->words);
	for (comma = ""; *word; word += strlen(word) + 1, comma = ", ") {
		length = strcspn(word, "=");
		fprintf(out, "%s\"", comma);
		fwrite(word, 1, length, out);
		fprintf(out, "\": \"%s\"", word + length + 1);
	}
	fprintf(out, "}, \"iterations\": %lu", b->iterations);
	if (b->options->passes & 1U << SPARK_BENCH_TIMING_)
		spark_bench_json_times_(b);
	if (b->counted)
		fprintf(out, ",\n   \"counting\": {\"iterations\": %lu, \"faults\": %ld, \"switches\": %ld}", b->counted,
			b->faults, b->switches);
	if (b->profiled)
		fprintf(out, ",\n   \"profile\": {\"iterations\": %lu, \"ns\": %lu}", b->profiled, b->profile_ns);
	fputs("}", out);
}

#endif /* SPARK_BENCH_RESULTS_H */
