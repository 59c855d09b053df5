/* SPDX-License-Identifier: MIT */
/* analyze/machine and session/machine: machines as others have them, and what is said of them. */
#include "cli/session/machine.h"

#include "fake_root.h"
#include "suite.h"

static struct machine_look look;
static struct machine machine;

static void setup(void)
{
	fake_make(NULL);
}

static void laptop(void)
{
	fake_put("/proc/stat", "cpu  1000 100 200 8000 100 10 20 50 7 0\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5\n");
	fake_put("/proc/loadavg", "0.31 0.20 0.10 1/100 1234\n");
	fake_put("/proc/sys/kernel/randomize_va_space", "2\n");
	fake_put("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
	fake_put("/sys/devices/system/cpu/smt/active", "1\n");
	fake_put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	fake_put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
	fake_put("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "3\n");
	machine_look(&look, fake_root);
}

static bool noted(const char *what)
{
	for (size_t i = 0; i < machine.nnotes; i++)
		if (strstr(machine.notes[i], what))
			return true;
	return false;
}

START_TEST(looked)
{
	char text[200];

	laptop();
	ck_assert_uint_eq(look.cpus, 2);
	ck_assert_uint_eq(look.busy, 1330);
	ck_assert_uint_eq(look.steal, 50);
	ck_assert_uint_eq(look.all, 9480);
	ck_assert(look.heeds_heat);
	ck_assert_uint_eq(look.throttled, 3);
	machine_judge(&machine, &look, &look);
	machine_text(&machine, text, sizeof(text));
	ck_assert_str_eq(text, "2 CPUs, governor powersave, turbo on, SMT on, ASLR on, load 0.31");
	ck_assert(noted("governor powersave"));
	ck_assert_uint_eq(machine.nnotes, 1);
}
END_TEST

START_TEST(other_files)
{
	laptop();
	fake_put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
	fake_put("/sys/devices/system/cpu/smt/active", "0\n");
	fake_put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
	machine_look(&look, fake_root);
	ck_assert_int_eq(look.turbo, MACHINE_OFF);
	ck_assert_int_eq(look.smt, MACHINE_OFF);
	ck_assert_str_eq(look.governor, "powersave, performance");
}
END_TEST

/* Both threads of a core show what the core did. */
START_TEST(cores)
{
	for (int old = 0; old < 2; old++) {
		const char *name = old ? "thread_siblings_list" : "core_cpus_list";
		char path[100], text[20];

		fake_remove();
		setup();
		for (int cpu = 0; cpu < 4; cpu++) {
			snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
			snprintf(text, sizeof(text), "%d,%d\n", cpu % 2, cpu % 2 + 2);
			fake_put(path, text);
			snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count",
				 cpu);
			fake_put(path, cpu % 2 ? "5\n" : "2\n");
		}
		machine_look(&look, fake_root);
		ck_assert_uint_eq(look.throttled, 7);
	}
}
END_TEST

START_TEST(nothing)
{
	char text[200];

	machine_look(&look, fake_root);
	machine_judge(&machine, &look, &look);
	machine_text(&machine, text, sizeof(text));
	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(machine.nnotes, 0);
	ck_assert(machine.steal < 0 && machine.others < 0);
	ck_assert(!machine.heeds_heat);
}
END_TEST

/* Of 1000 ticks 300 were busy, 100 of them by ourselves, and 20 were stolen. */
START_TEST(meanwhile)
{
	const struct machine_look begin = { .cpus = 2, .busy = 100, .all = 5000, .load = 1.5, .tick_ns = 10000000,
					    .heeds_heat = true };
	struct machine_look end = begin;

	end.busy += 300;
	end.all += 1000;
	end.steal += 20;
	end.own_ns += 100ULL * 10000000;
	end.throttled = 1;
	machine_judge(&machine, &begin, &end);
	ck_assert(noted("other processes, or those of the command that nobody waited for, took 20 %"));
	ck_assert(noted("2.0 % of the CPUs' time went to other virtual machines"));
	ck_assert(noted("slowed 1 time for heat") && !noted("power"));
	ck_assert_uint_eq(machine.nnotes, 3);
	/* All that was busy was ours. */
	end = begin;
	end.busy += 300;
	end.all += 1000;
	end.own_ns += 310ULL * 10000000;
	machine_judge(&machine, &begin, &end);
	ck_assert_uint_eq(machine.nnotes, 0);
	ck_assert(machine.others == 0);
}
END_TEST

START_TEST(too_short)
{
	const struct machine_look begin = { .cpus = 2, .load = 1.5, .tick_ns = 10000000 };
	struct machine_look end = begin;

	end.busy = end.all = 20;
	machine_judge(&machine, &begin, &end);
	ck_assert(machine.others < 0);
	ck_assert(noted("the load was 1.50 on 2 CPUs"));
	ck_assert_uint_eq(machine.nnotes, 1);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("machine");

	tcase_add_checked_fixture(tests, setup, fake_remove);
	tcase_add_test(tests, looked);
	tcase_add_test(tests, other_files);
	tcase_add_test(tests, cores);
	tcase_add_test(tests, nothing);
	tcase_add_test(tests, meanwhile);
	tcase_add_test(tests, too_short);
	return suite_run("machine", tests);
}
