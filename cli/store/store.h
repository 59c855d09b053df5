/* SPDX-License-Identifier: MIT */
/*
 * Recordings: one SQLite file with all that a run's report is made of, by thread, so that it can be
 * made again with other columns, grouping and order. spark-recording(5) describes the tables.
 *
 * A file is written whole and put in place of the former by rename(2): at any moment there is one
 * valid file, whatever happens to sparkctl or to the disk.
 */
#ifndef CLI_STORE_STORE_H
#define CLI_STORE_STORE_H

#include "cli/analyze/report.h"

/* Of the tables; a reader of others refuses the file. The oldest is the same, but knows no samples. */
#define STORE_VERSION 4
#define STORE_VERSION_OLDEST 2

/* What the run's own report was made with: a report of the recording begins with it. */
struct store_options {
	struct report_options report; /* without definitions */
	const char *define;          /* definitions of metrics, a line each; NULL: none */
	enum profile_group group;
};

/* ---- writing */

struct store_file {
	const char *path;
	char *folder;                /* of path */
	const char *base;            /* its last part */
	int told;                    /* errno of the last failure that was told of */
};

/*
 * The name of a recording: in pattern %p stands for our pid, %h for the host's name, %r for the rank
 * under MPI or Slurm, %n for one of several runs, %% for %. run is what that one is called; NULL: there is one alone.
 * To be freed. NULL after a message: another letter, no rank, or no run.
 */
char *store_expand(const char *pattern, const char *run);
/* It has %n. */
bool store_names_run(const char *pattern);

/*
 * Whether a recording can be written there: the place of a new file, or of a recording or empty file.
 * 0, or -1 after a message. path must outlive it. Close it in any case.
 */
int store_open(struct store_file *file, const char *path);
void store_close(struct store_file *file);

/*
 * Replaces the file. The profile should be by thread. 0, or -1 after a message, which is not repeated;
 * then the former file is still there.
 */
int store_write(struct store_file *file, const struct profile *profile,
		const struct session_facts *facts, const struct store_options *options);

/* Adds a note to a recording. 0, or -1 after a message. */
int store_note(const char *path, const char *text);

/* ---- reading */

/* A recording in memory; all of it lives until recording_free(). */
struct recording {
	struct profile profile;      /* by thread */
	struct session_facts facts;
	struct store_options options;
	struct clock_map clock;
	struct provenance provenance;
	struct recording_text *texts;
	struct profile_event *events;
	struct storage_fact storage; /* facts has it, if the file has */
	struct cache_fact cache;     /* the same */
	struct samples samples;      /* facts has them, if the run was sampled */
	struct block block;          /* the same, if block I/O was watched for */
	struct samples window_paths; /* the same, if there are windows */
};

/* NULL after a message: not a recording, of another version, damaged, out of memory. */
struct recording *recording_read(const char *path);
void recording_free(struct recording *recording);

#endif
