/* SPDX-License-Identifier: MIT */
/*
 * From names of events to finished attributes of perf_event_open(2): perf's syntax with its
 * generic names, the PMUs of sysfs, tracepoints, breakpoints, uprobes, and the names of vendors'
 * manuals by libpfm, of which this folder is the only user.
 *
 * Called by commands before a session starts. Files are read below the root of struct
 * caps_context; nothing is opened as an event here.
 */
#ifndef CLI_NAMES_NAMES_H
#define CLI_NAMES_NAMES_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/caps/caps.h"
#include "common/base.h"

/* What an event can be counted for. */
enum event_scope {
	EVENT_TASK,                  /* a task, wherever it runs */
	EVENT_CORES,                 /* a task while it runs on cores of one kind: of event->cpus */
	EVENT_SYSTEM,                /* a part of the machine, never a task */
};

/* Where it happens, hence what is left of it when the kernel side is excluded. */
enum event_side {
	EVENT_EITHER,                /* counts of each side mean something */
	EVENT_KERNEL,                /* in the kernel alone: without it the count is a silent 0 */
	EVENT_USER,                  /* by the program alone: the same without user mode */
	EVENT_NO_SIDE,               /* a clock, which runs whatever is excluded */
};

/* Intel's shares of slots, which the kernel counts in a group that slots lead. */
enum event_topdown { EVENT_NO_TOPDOWN, EVENT_SLOTS, EVENT_TOPDOWN };

/* How precise the instruction of a sample is to be; counts are the same. */
enum { EVENT_PRECISE_MOST = 3 };

struct event {
	char *name;                  /* as asked for; "pmu/name/" where several PMUs have it */
	struct perf_event_attr attr; /* what to count, with exclude_*, precise_ip, pinned; no read format */
	__u64 config3;               /* behind what older headers have of attr */
	u32 item;                    /* serial of the part of the list that it was made from */
	int group;                   /* serial of the braces around it; -1: none */
	enum event_scope scope;
	enum event_side side;
	bool precise_most;           /* :P, as precise as the PMU can */
	bool weak;                   /* :W, the group may be split */
	bool hardware;               /* it counts in a PMU of the CPU */
	enum event_topdown topdown;
	char *pmu;                   /* in sysfs; NULL: none, or the kernel finds one */
	char *cpus;                  /* list of CPUs, as in sysfs, unless the scope is a task; else NULL */
	char *unit;                  /* NULL: a number of events */
	double scale;                /* of a count, to be in that unit */
	char *path;                  /* file of a uprobe: attr.config1 points to it */
	const char *filter;          /* of its fields, for PERF_EVENT_IOC_SET_FILTER; NULL: none */
	char *obstacle;              /* why it cannot be had here, and what helps; NULL: to be tried */
};

struct event_list {
	struct event *event;
	size_t n, room;
	u32 items;
	int groups;
};

struct names_pmu;

struct names_context {
	const struct caps_context *caps;
	struct names_pmu *pmus;      /* read once, by what first needs them */
	size_t npmus;
	bool scanned;
	int folder_error;            /* errno of reading the folder of PMUs, or 0 */
	int type_error;              /* errno of reading the type of one of them, or 0 */
};

void names_init(struct names_context *context, const struct caps_context *caps);
void names_fini(struct names_context *context);

/*
 * Appends the events of a list in perf's syntax. Returns 0; or -1 after one sentence, the list
 * as it was. An event that is known but cannot be had here has an obstacle instead.
 */
int names_parse(struct names_context *context, const char *text, struct event_list *list);
/* Appends one that nobody knows here, but that has a place in the report: why is its obstacle. 0, or -1 after a message. */
int names_add_absent(struct event_list *list, const char *name, const char *why);
/*
 * Appends the calls of the system together, and those of a list of names, separated by commas.
 * Returns as names_parse() does.
 */
int names_syscalls(struct names_context *context, const char *names, struct event_list *list);
/* Appends the calls together and each by itself, and of each how often it failed: "syscalls.read.errors". */
int names_syscalls_all(struct names_context *context, struct event_list *list);
void event_list_free(struct event_list *list);
/*
 * The attribute of one event in the form that names_parse() takes, to be tried: nothing is excluded. Returns 0;
 * or -1 with the sentence.
 */
int names_encode(struct names_context *context, const char *text, struct perf_event_attr *attr, char *wrong,
	size_t size);

/* A function whose entries and returns are to be seen from outside. */
struct probe {
	char *name;                  /* its symbol */
	char *path;                  /* of its file */
	u64 offset;                  /* in the file */
	bool stepped;                /* the kernel single-steps its first instruction */
	/* A pair of static probes instead: where it begins and ends, several places each. */
	struct probe_site {
		u64 offset;          /* in the file */
		u64 semaphore;       /* in the file, to be raised by the kernel; 0: none */
		bool ends;
	} *site;
	u32 nsites;                  /* 0: a function */
};

#define PROBES_MOST 256u

struct probe_list {
	struct probe *probe;
	u32 n, room;
	u32 type;                    /* of the kernel's PMU */
	u32 semaphore_shift;         /* where config of an event has the place of a semaphore */
	u64 at_return;               /* config of an event at the return; it is 0 at the entry */
	char *throwing;              /* a file that knows exceptions, with one of its functions; NULL: none */
};

/*
 * Appends the functions of a list "FILE:SYMBOL,SYMBOL", where a symbol alone is the program's, and * and ? stand for
 * any characters. program: its file; NULL: not found. Returns 0, or -1 after one sentence. Free it in any case.
 */
int names_probes(struct names_context *context, const char *text, const char *program, struct probe_list *list);
/*
 * Appends what begins and ends by static probes (sys/sdt.h): [FILE:]PROVIDER:NAME or [FILE:]PROVIDER:BEGIN..END, perhaps
 * with =REGION behind it. As names_probes().
 */
int names_sdt(struct names_context *context, const char *text, const char *program, struct probe_list *list);
void probe_list_free(struct probe_list *list);

/* ---- What there is. Each stops when the callback returns non-zero, and returns that. */

#define NAMES_PMUS "/sys/bus/event_source/devices"

enum names_pmu_kind { NAMES_PMU_TASK, NAMES_PMU_CORE, NAMES_PMU_SYSTEM };

struct names_pmu {
	char name[64];
	u32 type;                    /* of perf_event_attr */
	enum names_pmu_kind kind;
	char cpus[256];              /* of its file cpus or cpumask; "": all, or none in particular */
};

struct names_alias {
	const char *name;
	const char *terms;           /* "event=0x3c,umask=0x00" */
	const char *unit;            /* NULL: a number of events */
	double scale;
};

struct names_format {
	const char *name;
	unsigned int word;           /* 0: config, 1: config1, ... */
	u64 bits;
};

/* PMUs of sysfs, by name; one without a type is none. */
int names_each_pmu(struct names_context *context, int (*each)(void *data, const struct names_pmu *),
	void *data);
/* The PMU of that name, or NULL. */
const struct names_pmu *names_find_pmu(struct names_context *context, const char *name);
/* Events that the PMU names itself, by name. */
int names_each_alias(struct names_context *context, const struct names_pmu *pmu,
	int (*each)(void *data, const struct names_alias *), void *data);
/* Terms that the PMU takes, by name. A file that makes no sense is left out. */
int names_each_format(struct names_context *context, const struct names_pmu *pmu,
	int (*each)(void *data, const struct names_format *), void *data);
/* Generic names: PERF_TYPE_HARDWARE, _SOFTWARE or _HW_CACHE; other: a second name or NULL. */
int names_each_generic(u32 type, int (*each)(void *data, const char *name, const char *other),
	void *data);
/* Tracepoints of the systems that match the pattern. Returns -errno where they cannot be told. */
int names_each_tracepoint(struct names_context *context, const char *systems,
	int (*each)(void *data, const char *system, const char *name), void *data);
/* Events of libpfm's tables for this CPU, "table::NAME"; none without libpfm. */
int names_each_pfm(struct names_context *context,
	int (*each)(void *data, const char *name, const char *meaning), void *data);

/* Whether functions can be named: libelf is there as well. */
bool names_have_functions(void);

/* Whether libpfm is there: sparkctl was built for it, and it loads. */
bool names_have_pfm(void);
bool names_built_with_pfm(void);

#endif
