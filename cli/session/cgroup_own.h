/* SPDX-License-Identifier: MIT */
/*
 * A control group of version 2 for one run: the command is in it from its first instruction, may be limited by it,
 * and leaves its figures in it.
 */
#ifndef CLI_SESSION_CGROUP_OWN_H
#define CLI_SESSION_CGROUP_OWN_H

#include <limits.h>
#include <sys/types.h>

#include "cli/analyze/snapshot.h"
#include "cli/caps/caps.h"

/* ---- what is asked for */

#define CGROUP_SETTINGS 20             /* four, and io.max of some devices */

struct cgroup_setting {
	const char *option;          /* that asks for it */
	const char *file;            /* "memory.max" */
	char value[160];             /* as the kernel takes it */
};

struct cgroup_asked {
	const char *root;            /* the directory that the group is made in; NULL: our own group */
	struct cgroup_setting setting[CGROUP_SETTINGS];
	u32 nsettings;
	bool reclaim;                /* at the end its pages are given up: the next run is to begin as this one */
};

/* ---- cgroup_name.c: names that tell whose a group is */

struct cgroup_name {
	unsigned long namespace_id;  /* of pids */
	int pid;                     /* of the sparkctl that made it */
	unsigned long long start;    /* when that began: field 22 of /proc/PID/stat */
	unsigned int serial;         /* of its groups */
};

#define CGROUP_NAME_SIZE 96

/* The next one of ours. */
void cgroup_name_next(char name[CGROUP_NAME_SIZE]);
/* False: it is no such name. */
bool cgroup_name_parse(const char *name, struct cgroup_name *parts);
/* The start of a process from the text of /proc/PID/stat; 0: not known. */
unsigned long long cgroup_name_start(const char *stat);
/* Removes the empty groups in a directory whose sparkctl has ended. */
void cgroup_sweep_stale(const char *directory);

/* ---- cgroup_own.c */

enum cgroup_controller { CGROUP_CPU, CGROUP_MEMORY, CGROUP_IO, CGROUP_CONTROLLERS };

#define CGROUP_DEVICES 16              /* with figures of their own */
#define CGROUP_DEVICE_CELLS 4
#define CGROUP_DEVICE_LIMITS 4
/* Figures of a run's own group, at most. */
#define CGROUP_FIGURES (SNAPSHOT_CELLS + CGROUP_DEVICES * (CGROUP_DEVICE_CELLS + CGROUP_DEVICE_LIMITS) + 4)

struct cgroup_own {
	const struct cgroup_asked *asked;
	char parent[PATH_MAX];
	char path[PATH_MAX + CGROUP_NAME_SIZE]; /* "": there is none */
	char aside[PATH_MAX + CGROUP_NAME_SIZE]; /* where this sparkctl went meanwhile; "": nowhere */
	bool portion;                /* other figures are of a portion of the run */
	char because[600];           /* why there is none */
	char without[CGROUP_CONTROLLERS][600]; /* why it lacks the controller; "": it has it */
	bool enabled[CGROUP_CONTROLLERS]; /* by us */
	char missing[SNAPSHOT_FILES][120]; /* why it lacks a file */
	char names[CGROUP_DEVICES * CGROUP_DEVICE_CELLS][80];
	char limits[CGROUP_DEVICES * CGROUP_DEVICE_LIMITS][80];
};

/* Which controller a file is of, CGROUP_CONTROLLERS: every group has it. */
enum cgroup_controller cgroup_controller_of(const char *file);
/*
 * Makes the group; own is empty but for portion. 0, without a group where no limit was asked for and there cannot be one: own->because; -1 after a
 * message.
 */
int cgroup_own_open(struct cgroup_own *own, const struct cgroup_asked *asked, const struct caps_context *caps);
/* Puts a held process there. The same. */
int cgroup_own_join(struct cgroup_own *own, pid_t pid);
/* Removes it, unless somebody goes on in it, which is said. */
void cgroup_own_close(struct cgroup_own *own);

/* cgroup_controllers.c: those that figures and limits need become the group's, or own->without says why not. */
void cgroup_own_enable(struct cgroup_own *own, const struct caps_context *caps);
void cgroup_own_disable(struct cgroup_own *own);

/* The text of a file; its length or -errno. */
long cgroup_file_read(const char *directory, const char *file, char *text, size_t size);
/* Removes a group, tried every 2 ms: processes may still be on their way out. False: it stays. */
bool cgroup_directory_remove(const char *path, unsigned int tries);
/* 0 or an errno. */
int cgroup_file_write(const char *directory, const char *file, const char *text);

/* ---- cgroup_figures.c */

struct totals;

/* What the group's files say now, as totals of the source "cgroup". */
void cgroup_own_totals(struct cgroup_own *own, struct totals *totals);

#endif
