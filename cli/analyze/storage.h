/* SPDX-License-Identifier: MIT */
/*
 * Storage provenance: which file system a path is on, with which options, on which stack of block devices, and what
 * of the machine decides how reading goes. Texts are NULL and numbers -1 where they are not known.
 */
#ifndef CLI_ANALYZE_STORAGE_H
#define CLI_ANALYZE_STORAGE_H

#include <stddef.h>

#include "common/base.h"

#define STORAGE_DEVICES 16           /* of a stack; more are counted alone */
#define STORAGE_OPENED 256           /* files that were open; more are not kept */
#define STORAGE_OPENED_TEXT 400

/* One of the stack. What it stands on follows it, one deeper. */
struct storage_device {
	u32 depth;
	const char *name;            /* "dm-0" */
	const char *kind;            /* "disk", "partition", "dm", "md", "loop" */
	const char *detail;          /* its model, its own name, its level, the file behind it */
	const char *scheduler;
	const char *write_cache;     /* "write back", "write through" */
	s64 rotational;
	s64 read_ahead;              /* bytes */
	s64 requests;                /* that its queue takes */
	s64 queue_depth;             /* that the device takes */
	s64 direct;                  /* loop: the file behind it is read past the page cache */
	const char *because;         /* why it is not known what it is */
};

struct storage_path {
	const char *path;
	const char *role;            /* "working directory", "--cache-files", "inherited", "opened" */
	const char *type;            /* of the file system */
	const char *source;
	const char *mount;           /* where it is mounted */
	const char *options;         /* of the mount */
	const char *super_options;   /* of the file system */
	const char *layer;           /* overlay: the file that is read */
	struct storage_device *devices;
	size_t ndevices;
	const char *because;         /* why no devices, or not all */
};

struct storage_fact {
	struct storage_path *paths;
	size_t npaths;
	const char *huge_pages;      /* transparent ones: "madvise" */
	const char *swap;            /* "none", or "/dev/sda2 8388604 kB, ..." */
	s64 page_size;
	const char *io_model;        /* as declared by the user */
	/* Of the paths that are opened: */
	s64 looks;                   /* at who has what open; -1: nobody looks */
	u64 refused;                 /* processes at a look that may not be seen */
	bool more;                   /* than are kept */
};

/* How the files that were opened are known, and what is missing. False: they are not, for that reason. */
bool storage_opened_how(const struct storage_fact *fact, char *text, size_t size);
bool storage_is_opened(const struct storage_path *path);

/* ---- what files of /proc and /sys say: fields point into the text, which is changed */

struct storage_mount {
	u64 id;
	u64 major, minor;
	char *root, *place, *options, *type, *source, *super_options;
};

/* A line of /proc/self/mountinfo. False: it is none. */
bool storage_parse_mount(char *line, struct storage_mount *mount);
/* The line of that mount, or by its device where id is 0, the last one. False: there is none. */
bool storage_find_mount(char *text, u64 id, u64 major, u64 minor, struct storage_mount *mount);
/* The value of one of several options with commas between: upperdir of "rw,upperdir=/x"; *length of it. NULL: not there. */
const char *storage_option(const char *options, const char *name, size_t *length);
/* The word in brackets: "none [mq-deadline] kyber"; a word alone is itself. NULL: neither. */
char *storage_chosen(char *text);
/* A whole number of its own, with blanks around. -1: it is none, or too large. */
s64 storage_number(const char *text);
/* DEVNAME of a file uevent. NULL: it has none. */
char *storage_device_name(char *text);
/* What /proc/swaps lists, for people. */
void storage_swaps(const char *text, char *out, size_t size);

#endif
