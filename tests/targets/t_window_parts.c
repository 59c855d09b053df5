/* SPDX-License-Identifier: MIT */
/*
 * t_window_parts [CTL ACK | N]
 *
 * With N so many windows, each of a name of its own and with a call of region "step"; else:
 *
 * Window "load" with its parts, and regions of known time, spun by CPU time: "warm" 30 ms in the warm-up, "parse" 20 ms
 * with "parse;sort" 60 ms in the measured part, "cool" 30 ms in the cool-down. "across" lasts from before the measured
 * part until behind it. Window "unmeasured" has a warm-up alone, "whole" no parts. Some parts are out of their order.
 * With CTL and ACK, fifos of --window-file, window "outer" is around the calls of "parse", of which there are two then.
 */
#include "target.h"

enum { MS = 1000000 };

static int ctl = -1, ack = -1;

static void say(const char *line)
{
	char answer[4];

	if (ctl < 0)
		return;
	dprintf(ctl, "%s\n", line);
	for (size_t got = 0; got < sizeof(answer);) {
		ssize_t n = read(ack, answer + got, sizeof(answer) - got);

		if (n <= 0)
			target_die("no answer");
		got += (size_t)n;
	}
}

static void spin_in(const char *name, int64_t ns)
{
	spark_region_begin(name);
	target_spin(ns);
	spark_region_end(name);
}

static void parse(void)
{
	spark_region_begin("parse");
	target_spin(20 * MS);
	spin_in("sort", 60 * MS);
	spark_region_end("parse");
}

static void load(void)
{
	spark_window_begin("load");
	spark_window_part("load", SPARK_WARMUP);
	spin_in("warm", 30 * MS);
	spark_region_begin("across");
	spark_window_part("load", SPARK_MEASURED);
	spark_window_part("load", SPARK_WARMUP);
	say("begin outer");
	parse();
	if (ctl >= 0)
		parse();
	say("end outer");
	spark_window_part("load", SPARK_COOLDOWN);
	spark_region_end("across");
	spark_window_part("load", SPARK_COOLDOWN);
	spin_in("cool", 30 * MS);
	spark_window_end("load");
}

static void many(int64_t n)
{
	char name[32];

	for (int64_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "window %lld", (long long)i);
		spark_window_begin(name);
		spark_region_begin("step");
		spark_region_end("step");
		spark_window_end(name);
	}
}

int main(int argc, char **argv)
{
	if (argc == 2) {
		many(target_arg(argc, argv, 1, 0));
		return 0;
	}
	if (argc == 3) {
		ctl = open(argv[1], O_WRONLY | O_CLOEXEC);
		ack = open(argv[2], O_RDONLY | O_CLOEXEC);
		if (ctl < 0 || ack < 0)
			target_die("open");
	}
	spark_window_part("load", SPARK_MEASURED);
	load();
	spark_window_begin("unmeasured");
	spark_window_part("unmeasured", SPARK_WARMUP);
	spark_window_part("unmeasured", (enum spark_part)0);
	spark_window_end("unmeasured");
	spark_window_begin("whole");
	target_spin(10 * MS);
	spark_window_end("whole");
	return 0;
}
