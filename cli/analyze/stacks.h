/* SPDX-License-Identifier: MIT */
/*
 * What reports say of samples: sums by function, line, call path, object and bucket, of all of them or
 * of those of a region or process.
 *
 * A function that was inlined counts as one of its own, called by the one it is inlined in. What a
 * function has in all counts once for each sample, however often it is in the chain. Samples in the
 * agent or in the code of markers, and in what these call, are of one function, "[instrumentation]"; but
 * what a bracketed call calls is the program's.
 */
#ifndef CLI_ANALYZE_STACKS_H
#define CLI_ANALYZE_STACKS_H

#include "cli/analyze/samples.h"

#define STACKS_INSTRUMENTATION 0     /* its number among the functions */
#define STACKS_BRACKET 1             /* of the agent's thunk around calls: in no chain */
#define STACKS_DEPTH_MAX 4096        /* steps of a chain; outer ones are left out */

struct stacks_sum {
	u64 count, weight;
};

/* A function of an object; or all code of the object whose functions are not known. */
struct stacks_function {
	u32 object;                  /* SAMPLES_NONE: the instrumentation */
	u32 name;                    /* string; SAMPLES_NONE: not known */
};

/* A line of a function's source. */
struct stacks_place {
	u32 function;
	u32 file;                    /* string; SAMPLES_NONE: not known */
	u32 line;                    /* 0: not known */
};

/* Which samples. Zero-initialized: those in no region, of all processes. */
struct stacks_scope {
	bool whole;                  /* whatever the region */
	bool unattributed;           /* those whose region is not known */
	bool inner;                  /* of the region and all below it */
	u32 region;                  /* number + 1; 0: those in none */
	u32 process;                 /* serial; 0: all */
};

struct stacks;

/* NULL when memory is short. The samples must outlive it and stay as they are. */
struct stacks *stacks_new(const struct samples *samples);
void stacks_free(struct stacks *stacks);
const struct samples *stacks_samples(const struct stacks *stacks);

const struct stacks_function *stacks_function(const struct stacks *stacks, u32 function);
/* "insert", "[instrumentation]", or of code without names its object, "[libx.so]"; raw bytes. To be freed. */
char *stacks_function_name(const struct stacks *stacks, u32 function);
/* Of a string; NULL for SAMPLES_NONE. */
const char *stacks_string(const struct stacks *stacks, u32 string);

/* The samples of a scope. */
struct stacks_sum stacks_sum(const struct stacks *stacks, const struct stacks_scope *scope);

/* ---- lists; each is 0, or -1 when memory is short, and is freed by free(3) */

/* One part of the samples: of a region, of one process or of all. */
struct stacks_part {
	struct stacks_scope scope;
	u32 pid;                     /* 0: of all processes */
	struct stacks_sum sum;
};

/* All parts that have samples, greatest first. */
int stacks_parts(const struct stacks *stacks, bool by_process, struct stacks_part **parts, size_t *n);

struct stacks_entry {
	u32 function;
	struct stacks_sum self, total;
	struct stacks_place place;   /* the hottest: of its own samples, else of those that it calls */
	u32 first_line, nlines;      /* in samples.lines: what the function is inlined in at that place, innermost first */
};

/* The functions with samples: most of their own first, then most in all. */
int stacks_flat(struct stacks *stacks, const struct stacks_scope *scope, struct stacks_entry **entries, size_t *n);

struct stacks_line {
	struct stacks_place place;
	struct stacks_sum self, total;
};

/* The lines of all functions of a name, by object, file and line. */
int stacks_lines(struct stacks *stacks, const struct stacks_scope *scope, const char *function,
		 struct stacks_line **lines, size_t *n);

struct stacks_address {
	u32 frame;
	bool of_function;            /* the function is there, perhaps inlined */
	struct stacks_sum self, total;
};

/* All frames with samples, by object and address; those of functions of a name are marked. */
int stacks_addresses(const struct stacks *stacks, const struct stacks_scope *scope, const char *function,
		     struct stacks_address **addresses, size_t *n);

struct stacks_node {
	u32 function;
	u32 parent;                  /* of a node further up; SAMPLES_NONE: nobody called it, as far as is known */
	u32 depth;
	struct stacks_sum self, total;
};

/* Calls from the outermost function on, depth first, of nodes beside each other those with most first. */
int stacks_tree(struct stacks *stacks, const struct stacks_scope *scope, struct stacks_node **nodes, size_t *n);

struct stacks_module {
	u32 object;
	struct stacks_sum self;      /* samples taken in it */
	u64 named;                   /* of them those whose function is known */
};

/* The objects with samples, greatest first. */
int stacks_modules(const struct stacks *stacks, const struct stacks_scope *scope, struct stacks_module **modules,
		   size_t *n);

struct stacks_bucket {
	const char *name;            /* of the rules, or "[instrumentation]", or "[other]" */
	struct stacks_sum sum;
};

struct buckets;
/* All buckets, greatest first; those without samples last. The innermost function that a rule knows decides. */
int stacks_buckets(struct stacks *stacks, const struct stacks_scope *scope, const struct buckets *buckets,
		   struct stacks_bucket **sums, size_t *n);

/* ---- what is missing, as numbers of samples */

struct stacks_gaps {
	u64 samples;
	u64 unattributed;            /* in a region that is not known */
	u64 truncated;               /* their chain ends early */
	u64 truncations[SAMPLES_TRUNCATIONS]; /* of these, by reason */
	u64 no_chain;                /* nothing is known of the place */
	u64 unresolved[SAMPLES_UNRESOLVED_KINDS]; /* the function they were taken in has no name, by reason */
	u64 lost;                    /* beside these; of a region, between two samples of it */
	u64 throttled;               /* times that the kernel paused */
};

struct stacks_gaps stacks_gaps(const struct stacks *stacks, const struct stacks_scope *scope);

#endif
