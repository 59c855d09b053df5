/* SPDX-License-Identifier: MIT */
/*
 * The PMUs of five machines as their kernels show them in sysfs: arch/x86/events, drivers/perf and
 * drivers/perf/arm_pmuv3.c of Linux 6.
 */
#ifndef TESTS_UNIT_MACHINES_H
#define TESTS_UNIT_MACHINES_H

#include "fake_root.h"

#define PMU "/sys/bus/event_source/devices/"

#define MACHINE_INTEL_FORMAT(pmu) \
	{ PMU pmu "/format/event", "config:0-7\n" }, \
	{ PMU pmu "/format/umask", "config:8-15\n" }, \
	{ PMU pmu "/format/edge", "config:18\n" }, \
	{ PMU pmu "/format/inv", "config:23\n" }, \
	{ PMU pmu "/format/cmask", "config:24-31\n" }, \
	{ PMU pmu "/format/offcore_rsp", "config1:0-63\n" }, \
	{ PMU pmu "/format/ldlat", "config1:0-15\n" }, \
	{ PMU pmu "/format/acr_mask", "config2:0-63\n" }, \
	{ PMU pmu "/events/cpu-cycles", "event=0x3c\n" }, \
	{ PMU pmu "/events/instructions", "event=0xc0\n" }, \
	{ PMU pmu "/events/branch-misses", "event=0xc5\n" }, \
	{ PMU pmu "/events/cache-misses", "event=0x2e,umask=0x41\n" }, \
	{ PMU pmu "/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" }

static const struct fake_file machine_skylake[] = {
	{ "/proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 94\n" },
	{ PMU "cpu/type", "4\n" },
	MACHINE_INTEL_FORMAT("cpu"),
	{ PMU "software/type", "1\n" },
	{ PMU "uncore_imc_0/type", "24\n" },
	{ PMU "uncore_imc_0/cpumask", "0\n" },
	{ PMU "uncore_imc_0/format/event", "config:0-7\n" },
	{ PMU "uncore_imc_0/events/data_reads", "event=0x01\n" },
	{ PMU "uncore_imc_0/events/data_reads.scale", "6.103515625e-5\n" },
	{ PMU "uncore_imc_0/events/data_reads.unit", "MiB\n" },
	{ PMU "uncore_imc_1/type", "25\n" },
	{ PMU "uncore_imc_1/cpumask", "0\n" },
	{ PMU "uncore_imc_1/format/event", "config:0-7\n" },
	{ PMU "uncore_imc_1/events/data_reads", "event=0x01\n" },
	{ PMU "power/type", "21\n" },
	{ PMU "power/cpumask", "0\n" },
	{ PMU "power/format/event", "config:0-7\n" },
	{ PMU "power/events/energy-pkg", "event=0x02\n" },
	{ PMU "power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n" },
	{ PMU "power/events/energy-pkg.unit", "Joules\n" },
	{ .path = NULL },
};

static const struct fake_file machine_hybrid[] = {
	{ "/proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 151\n" },
	{ PMU "cpu_core/type", "4\n" },
	{ PMU "cpu_core/cpus", "0-15\n" },
	MACHINE_INTEL_FORMAT("cpu_core"),
	{ PMU "cpu_core/events/slots", "event=0x00,umask=0x4\n" },
	{ PMU "cpu_core/events/topdown-be-bound", "event=0x00,umask=0x83\n" },
	{ PMU "cpu_atom/type", "10\n" },
	{ PMU "cpu_atom/cpus", "16-23\n" },
	MACHINE_INTEL_FORMAT("cpu_atom"),
	{ .path = NULL },
};

/* Zen 4 and Zen 5 show the same formats. */
#define MACHINE_ZEN(family, model) { \
	{ "/proc/cpuinfo", "vendor_id\t: AuthenticAMD\ncpu family\t: " family "\nmodel\t\t: " model "\n" }, \
	{ PMU "cpu/type", "4\n" }, \
	{ PMU "cpu/format/event", "config:0-7,32-35\n" }, \
	{ PMU "cpu/format/umask", "config:8-15\n" }, \
	{ PMU "cpu/format/edge", "config:18\n" }, \
	{ PMU "cpu/format/inv", "config:23\n" }, \
	{ PMU "cpu/format/cmask", "config:24-31\n" }, \
	{ PMU "cpu/events/cpu-cycles", "event=0x76\n" }, \
	{ PMU "cpu/events/instructions", "event=0xc0\n" }, \
	{ PMU "cpu/events/branch-misses", "event=0xc3\n" }, \
	{ PMU "cpu/events/cache-misses", "event=0x64,umask=0x09\n" }, \
	{ PMU "amd_df/type", "12\n" }, \
	{ PMU "amd_df/cpumask", "0\n" }, \
	{ PMU "amd_df/format/event", "config:0-7,32-37\n" }, \
	{ PMU "amd_df/format/umask", "config:8-15,24-27\n" }, \
	{ PMU "ibs_op/type", "11\n" }, \
	{ PMU "ibs_op/format/cnt_ctl", "config:19\n" }, \
	{ PMU "ibs_op/format/l3missonly", "config:16\n" }, \
	{ .path = NULL }, \
}

static const struct fake_file machine_zen4[] = MACHINE_ZEN("25", "97");
static const struct fake_file machine_zen5[] = MACHINE_ZEN("26", "68");

#define MACHINE_ARM_PMU(pmu) \
	{ PMU pmu "/format/event", "config:0-15\n" }, \
	{ PMU pmu "/format/long", "config1:0\n" }, \
	{ PMU pmu "/format/rdpmc", "config1:1\n" }, \
	{ PMU pmu "/events/cpu_cycles", "event=0x0011\n" }, \
	{ PMU pmu "/events/inst_retired", "event=0x0008\n" }, \
	{ PMU pmu "/events/br_mis_pred", "event=0x0010\n" }

static const struct fake_file machine_arm[] = {
	{ PMU "armv8_cortex_a53/type", "8\n" },
	{ PMU "armv8_cortex_a53/cpus", "0-3\n" },
	MACHINE_ARM_PMU("armv8_cortex_a53"),
	{ PMU "armv8_cortex_a72/type", "9\n" },
	{ PMU "armv8_cortex_a72/cpus", "4-5\n" },
	MACHINE_ARM_PMU("armv8_cortex_a72"),
	{ PMU "armv8_cortex_a72/events/bus_cycles", "event=0x001d\n" },
	{ .path = NULL },
};

/* One kind of cores, which has a file cpus all the same. */
static const struct fake_file machine_graviton[] = {
	{ PMU "armv8_pmuv3_0/type", "8\n" },
	{ PMU "armv8_pmuv3_0/cpus", "0-3\n" },
	MACHINE_ARM_PMU("armv8_pmuv3_0"),
	{ .path = NULL },
};

/* A virtual machine: no PMU, but tracefs, probes and a PMU with an event that asks for a value. */
static const struct fake_file machine_plain[] = {
	{ PMU "software/type", "1\n" },
	{ PMU "uprobe/type", "9\n" },
	{ PMU "uprobe/format/retprobe", "config:0\n" },
	{ PMU "hv_24x7/type", "30\n" },
	{ PMU "hv_24x7/format/domain", "config:0-3\n" },
	{ PMU "hv_24x7/format/offset", "config:32-63\n" },
	{ PMU "hv_24x7/format/phys", "config1:60-63,0-3\n" },
	{ PMU "hv_24x7/format/wild", "config:7-3\n" },
	{ PMU "hv_24x7/format/far", "config:60-64\n" },
	{ PMU "hv_24x7/format/fourth", "config3:4-7\n" },
	{ PMU "hv_24x7/events/reads", "domain=?,offset=0x20\n" },
	{ PMU "hv_24x7/events/loop", "loop\n" },
	{ PMU "no_type/format/event", "config:0-7\n" },
	{ PMU "odd_type/type", "x\n" },
	{ "/proc/self/mountinfo", "36 25 0:32 / /sys/kernel/tracing rw - tracefs none rw\n" },
	{ "/sys/kernel/tracing/events/syscalls/enable", "0\n" },
	{ "/sys/kernel/tracing/events/syscalls/sys_enter_read/id", "700\n" },
	{ "/sys/kernel/tracing/events/syscalls/sys_enter_readv/id", "702\n" },
	{ "/sys/kernel/tracing/events/sched/sched_switch/id", "314\n" },
	{ "/sys/kernel/tracing/events/sched/sched_odd/id", "\n" },
	{ .path = NULL },
};

#undef PMU

#endif
