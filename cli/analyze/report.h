/* SPDX-License-Identifier: MIT */
/*
 * The finished report: everything that an output prints, and nothing that it must compute. The
 * session states its facts (struct session_facts), report_build() joins them with the profile.
 */
#ifndef CLI_ANALYZE_REPORT_H
#define CLI_ANALYZE_REPORT_H

#include "cli/analyze/block.h"
#include "cli/analyze/buckets.h"
#include "cli/analyze/cache.h"
#include "cli/analyze/derived.h"
#include "cli/analyze/stacks.h"
#include "cli/analyze/storage.h"
#include "cli/analyze/window.h"

/* ---- what the session knows ------------------------------------------------------------------------ */

enum process_end {
	PROCESS_ALIVE,               /* at the time of the report */
	PROCESS_EXIT,
	PROCESS_SIGNAL,
	PROCESS_EXEC,                /* became another image: that is the next entry with this pid */
	PROCESS_UNKNOWN,             /* ended, nobody saw how */
};

/* One process image.  Strings belong to the session and outlive the report. */
struct process_facts {
	u32 id;                      /* serial, from 1: pids repeat */
	u32 pid;
	u32 parent;                  /* id; 0: none known */
	const char *command;         /* name for people; NULL: unknown */
	const char *image;           /* path of the executable; NULL: unknown */
	u64 start_ns;                /* since the start of the run */
	u64 end_ns;                  /* for one that lives: now */
	enum process_end ended;
	int status;                  /* PROCESS_EXIT */
	int signal;                  /* PROCESS_SIGNAL */
	struct usage usage;          /* from start to end */
	u32 bracket, pair;           /* ticks, as calibrated by the agent; 0: not known */
	u32 detector;                /* enum wire_detector */
	u32 sealed_cpu;
	u32 threads;                 /* that it had in all; 0: not known */
	bool agent;                  /* it said hello, or was forked from one that had */
	const char *no_agent;        /* why there is none in it, for the list of such processes; NULL: not in it */
};

/* What the kernel gave for an event, of which intervals are made. */
struct total_raw {
	bool event;                  /* it is one: what follows is known, if the cell has a value */
	bool cores;                  /* of one kind of cores: never scaled */
	double count;                /* in the unit of the total */
	u64 enabled_ns, running_ns;
};

struct total_fact {
	const char *name;            /* "elapsed", "user", "task-clock", ... */
	const char *unit;            /* "ns", "count", "B" */
	struct cell cell;
	const char *source;          /* "perf", "wait4" */
	struct total_raw raw;
};

/* A part of what was counted, by itself: a thread or a control group. */
struct part_fact {
	const char *name;
	u32 tid;                     /* 0: no thread */
	const struct total_fact *totals;
	size_t ntotals;
};

struct capability_fact {
	const char *name;
	bool available;
	bool asked;                  /* absent and asked for: a line in the table */
	const char *because;
	const char *remedy;          /* NULL or "": none */
};

struct loss_fact {
	const char *name;
	const char *text;            /* what follows the number in a table */
	u64 count;
};

/* A time in which the run was measured. */
struct span_fact {
	u64 begin_ns, end_ns;        /* since the start of the run; the last one's end may be UINT64_MAX */
};

struct note_fact {
	u64 time_ns;                 /* CLOCK_REALTIME */
	const char *text;
};

/* A file that was mapped for execution. */
struct object_fact {
	const char *path;
	const char *build_id;        /* in hexadecimal digits; NULL: it has none, or could not be read */
};

/* Where the figures come from, beyond the host. */
struct provenance {
	const char *version;         /* of the sparkctl that measured */
	u64 started_ns;              /* CLOCK_REALTIME */
	const char *environment;     /* digest: equal environments have equal ones */
	bool recorded;               /* read from a recording */
	struct note_fact *notes;
	size_t nnotes;
	struct object_fact *objects;
	size_t nobjects;
};

struct session_facts {
	const struct provenance *provenance;
	bool unfinished;             /* a look at a run that goes on, or all that is left of it */
	const char *const *argv;     /* terminated by NULL; NULL: no command was run */
	const char *target;          /* what was counted, if not the command: "process 1234 (nginx)"; else NULL */
	const struct part_fact *parts; /* of that */
	size_t nparts;
	int status;                  /* of the main child, if signal is 0 */
	int signal;
	bool alive;                  /* it had not ended: no status */
	bool timeout;                /* ended by --timeout */
	const char *host;
	const char *kernel;
	const char *cpu;
	const char *clock;           /* "tsc", "vdso" */
	u64 duration_ns;
	const struct clock_map *clock_map;
	const struct process_facts *processes;
	size_t nprocesses;
	const struct total_fact *totals;
	size_t ntotals;
	const struct capability_fact *capabilities;
	size_t ncapabilities;
	const struct loss_fact *losses; /* the session's own */
	size_t nlosses;
	const char *uncounted;       /* why the kernel's events missed some of the tree, or NULL */
	u64 start_waits;             /* programs that waited for sparkctl when they started, for long */
	u64 start_longest_ns;        /* the longest of these times */
	u64 start_unheard;           /* others that went on unmeasured in the end */
	const char *not_preloaded;   /* why the agent could not enter ("... is statically linked"), or NULL */
	const struct samples *samples; /* NULL: not profiled */
	const struct storage_fact *storage; /* NULL: nobody looked */
	const struct cache_fact *cache; /* NULL: nobody asked for a state of the page cache */
	const struct block *block;   /* what devices did; NULL: not asked for */
	bool partial;                /* it was measured in spans alone, if in any */
	u64 measured_ns;             /* of partial */
	const struct span_fact *spans;
	size_t nspans;
	const char *const *inside;   /* regions that alone were measured; NULL: all */
	size_t ninside;
	const struct window_fact *windows; /* one by one, in the order in which they began */
	size_t nwindows;
	const struct samples *window_paths; /* whose regions are those of the windows; NULL: none */
};

/* How much of a time is in spans, which are in order. */
u64 spans_overlap(const struct span_fact *spans, size_t n, u64 begin_ns, u64 end_ns);

/* What a table shows of the samples. */
struct report_profile {
	bool off;                    /* the samples are intervals off the CPU: samples_off_view() */
	bool detail;                 /* tables of their own; else some lines of the hottest functions */
	unsigned long top;           /* functions in a table; 0: all */
	bool by_region;              /* a table for each region; else one of all samples */
	bool inner;                  /* those of a region include those of regions in it */
	bool call_tree;
	const char *lines;           /* a table of the lines of this function; NULL: none */
	const struct buckets *buckets; /* NULL: none; they outlive the report */
	const char *costs;           /* globs of regions whose calls are taken apart; NULL: none */
};

struct report_options {
	const char *metrics;         /* globs; NULL: the default columns */
	const char *regions;         /* globs; NULL: all */
	const char *sort_by;         /* metric; NULL: wall */
	bool steady;                 /* the same totals in every report of such facts, with a value or without */
	bool totals_only;            /* no columns, rows or windows; metrics are globs of totals */
	bool lean;                   /* no column but those of metrics, names of the catalog, and what rows are sorted by */
	bool each_window;            /* a table of single windows, in the place of all others */
	bool all_calls;              /* totals "syscalls.NAME" are of all calls of the system: those made are shown apart */
	const struct definitions *definitions; /* NULL: none; they outlive the report */
	struct report_profile profile;
};

/* ---- the report ------------------------------------------------------------------------------------ */

struct report_column {
	const struct metric *metric;
	struct derived *derived;     /* NULL: it is not computed from other columns */
	bool available;              /* some row has a value */
	bool selected;               /* JSON: has cells; without --metrics all are */
	bool shown;                  /* in a table */
};

/* The words for kinds of regions: a marker's, and by enum wire_origin_kind; NULL ends the list. */
extern const char *const report_kind_words[];

/* Of a region that no marker begins. */
struct report_origin {
	u32 name;                    /* of the profile */
	bool probed;                 /* a region by probes, which others of that name are not */
	const char *kind;            /* of several: joined by "+" */
	const char *library;         /* path of the object that has the function; of several: joined by ":"; NULL: not known */
	const char **callers;        /* paths of the objects that call it */
	size_t ncallers;
};

/* What the time of a region, or of the threads of a process, was spent on. */
enum report_part_kind {
	REPORT_USER, REPORT_KERNEL,  /* on a CPU */
	REPORT_RUNNABLE,             /* waiting for one */
	REPORT_DISK, REPORT_FUTEX, REPORT_IO, REPORT_SLEEP, REPORT_OTHER, /* blocked: in the order of enum samples_off */
	REPORT_RESIDUAL,             /* what the other parts leave */
	REPORT_PARTS
};

extern const char *const report_part_names[REPORT_PARTS];

/* A place that a thread waited in, of one region. */
struct report_cause {
	u32 kind;                    /* enum report_part_kind */
	const char *call;            /* of the system; NULL: not known */
	const char *function;        /* of the program, from where; NULL: not known */
	const char *file;            /* of its source; NULL: not known */
	u32 line;
	double ns;
};

/* Who ended waits of a region. */
struct report_waker {
	u32 by;                      /* enum samples_waker */
	const char *name;            /* of the thread, or of its process; NULL: not known, or no thread */
	const char *function;        /* of the program, where it was; NULL: not known */
	const char *file;            /* of its source; NULL: not known */
	u32 line;
	u32 process, pid;            /* serial and number; 0: not of the tree */
	u32 tid;                     /* 0: several, or none */
	double ns;                   /* blocked, until then */
	u64 count;
};

struct report_split {
	struct report_value {
		struct cell cell;    /* ns */
		const char *source;
	} part[REPORT_PARTS];
	struct report_value disk_delay; /* of a root: waited for block devices, by the kernel's accounting */
	double whole;                /* what they add up to, ns: wall, or of a root the lives of its threads */
	double scale;                /* of the intervals, where they were more than that: below 1 */
	u32 region;                  /* among those of the samples; SAMPLES_NONE: a root's, or none of its own */
	struct report_cause *causes; /* greatest first, of rows that a table tells of */
	size_t ncauses;
	struct report_waker *wakers; /* greatest first; where samples.off_waker tells of them */
	size_t nwakers;
	const char *absent;          /* why nothing is known of its waits; NULL: it is */
	const char *hot;             /* the function that most samples were taken in; NULL: not known */
	const char *hot_file, *hot_into; /* its source, and what it is inlined into; NULL: not known, or not inlined */
	u32 hot_line;
};

struct report_row {
	u32 parent;                  /* index of a row further up; PROFILE_NONE: a root */
	u32 depth;                   /* in the tree that is shown */
	u32 process;                 /* serial; 0: merged over processes */
	u32 pid;                     /* 0: merged */
	u32 tid;                     /* 0: merged */
	bool root;                   /* of a process or thread: its path is [] */
	bool context;                /* shown for its children only (--regions) */
	const char *name;            /* raw bytes, terminated; a root's: the command */
	size_t len;
	u64 calls, open;
	const struct report_origin *origin; /* NULL: a marker begins it */
	struct cell *cells;          /* one for each column */
	struct cell wall_share;      /* percent of the root's wall */
	struct cell cpu_share;       /* percent of its own wall */
	struct cell off_share;
	struct report_split *split;  /* NULL: not watched for */
};

struct report_diagnosis {
	const char *kind;
	const char *region;          /* raw bytes; NULL: none */
	size_t len;
	u64 count;
	const char *text;
};

struct report_loss {
	const char *name;
	const char *text;
	u64 count;
};

enum { REPORT_COST_P50, REPORT_COST_P90, REPORT_COST_P99, REPORT_COST_MEAN, REPORT_COST_FIGURES };

/* What a call of a region costs. */
struct report_cost {
	size_t row;
	struct cell floor;           /* ns that an empty call reads: they are in none of the figures */
	struct cell time[REPORT_COST_FIGURES]; /* ns */
	struct cell cycles[REPORT_COST_FIGURES];
	struct cell clock;           /* GHz, by which the former are the latter */
	struct cell cpu;             /* ns of a call on a CPU */
	struct cell sampled;         /* the same by the clock of the samples */
	bool missed;                 /* that is less, by more than chance */
	struct stacks_sum samples;   /* of the region and those in it */
	struct report_cost_bucket {
		const char *name;
		u64 samples;
		double share;        /* in percent; together they are 100 */
		struct cell cpu;     /* ns of a call */
	} *buckets;                  /* greatest first; NULL: none */
	size_t nbuckets;
	const char *no_buckets;      /* why */
};

/* The clock of the markers against CLOCK_MONOTONIC_RAW. */
struct report_clocks {
	bool known, agree;
	double apart_ns;             /* at most, of pairs of both from a line through the first and the last */
	u64 over_ns;                 /* from first to last */
	size_t pairs;
	double ghz;                  /* of the markers' clock, by the other one */
	const char *why;             /* if nothing is known */
};

struct report_markers {
	double pairs;
	double pair_ns;              /* of the most expensive process */
	double cost_ns;
	double share;                /* percent of wall */
	bool warn;                   /* more than 5 % */
	const char *fine;            /* regions whose mean is below 20 x pair_ns, as text; NULL: none */
};

/* A single window. */
struct report_window {
	const struct window_fact *fact;
	struct cell part[WINDOW_PARTS];
	u32 cause;                   /* what stands out: a part, or enum window_cause */
	double share;                /* of it, 0 to 1 */
	bool waited_for;             /* by other threads: the share is of the window's time, not of the threads' */
};

/* Of a total to another one. */
struct report_ratio {
	struct cell cell;
	const char *unit;            /* "/s", "GHz", ...; NULL: there is none */
};

/* One of the facts' parts, with the totals that are selected. */
struct report_part {
	const struct part_fact *fact;
	struct total_fact *totals;
	struct report_ratio *ratios; /* one for each */
	size_t ntotals;
};

/* A call of the system that was made. */
struct report_calls {
	const char *name;
	struct cell calls, share;    /* in percent of all calls */
	struct cell errors;
};

struct report {
	const struct session_facts *facts;
	struct report_options options;
	enum profile_group group;
	struct report_column *columns;
	size_t ncolumns;
	struct report_row *rows;     /* depth first, siblings in order */
	size_t nrows;
	struct report_origin *origins; /* by name */
	size_t norigins;
	struct report_row *windows;  /* depth 0 */
	size_t nwindows;
	struct report_window *each;  /* the windows of the facts, one by one */
	size_t neach;
	struct total_fact *totals;   /* the session's, "markers" and "marker-cost", those computed from others */
	size_t ntotals;
	size_t nshown;               /* of them; what a table says in another form stands behind these */
	struct report_ratio *ratios; /* one for each total */
	struct report_calls *calls;  /* greatest first; with options.all_calls */
	size_t ncalls;
	struct report_part *by_part;
	size_t nby_part;
	struct report_loss *losses;  /* those above 0 */
	size_t nlosses;
	struct report_diagnosis *diagnostics;
	size_t ndiagnostics;
	struct report_markers markers;
	struct report_cost *costs;   /* if they were asked for */
	size_t ncosts;
	struct report_clocks clocks; /* the same */
	u64 detectors[4];            /* threads, by enum wire_detector */
	u64 threads;                 /* that used markers */
	u64 all_threads;             /* of all processes; 0: not known */
	struct cell cpu, cpu_share;  /* of the whole tree; percent of the duration */
	bool has_regions;
	const char **unknown;        /* globs of --metrics, --sort-by that matched nothing */
	size_t nunknown;
	struct metric *events;       /* the columns of -e */
	size_t nevents;
	struct derived *derived;     /* storage of the metrics that are computed from others */
	size_t nderived;
	struct metric *client;       /* storage of the client metrics' columns */
	size_t nclient;
	u64 client_left_out;         /* values of more metrics than there are columns for */
	struct stacks *stacks;       /* NULL: not profiled */
	struct stacks_part *parts;   /* those of the samples by region that are shown, greatest first */
	size_t nparts;
	struct report_text *texts;
};

/*
 * Joins profile and facts, which must both outlive the report. Returns NULL after a message when
 * memory is short.
 */
struct report *report_build(const struct profile *profile, const struct session_facts *facts,
			    const struct report_options *options);
/*
 * One with nothing but these totals and what is computed from them, those that tables show first. NULL after a
 * message. facts, of which no more is looked at, must outlive it.
 */
struct report *report_totals(const struct session_facts *facts, const struct definitions *definitions);
void report_free(struct report *report);

/* The word for an enum wire_diagnosis; NULL for numbers not in use. */
const char *report_diagnosis_name(u32 kind);

/* Text that lives as long as the report; NULL when memory is short. */
const char *report_text(struct report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
