/* SPDX-License-Identifier: MIT */
/* Finds out what storage paths of a run are on: file system, stack of devices, and what the machine makes of it. */
#ifndef CLI_SESSION_STORAGE_H
#define CLI_SESSION_STORAGE_H

#include "cli/analyze/storage.h"
#include "cli/caps/caps.h"

struct storage;

/* What is asked of a run. */
struct storage_asked {
	const char *io_model;        /* as declared; NULL: not at all */
};

enum storage_look {
	STORAGE_LOOK_ON,             /* there may be another */
	STORAGE_LOOK_OVER,           /* it has taken as long as it may */
	STORAGE_LOOK_REFUSED,        /* there may be another; this one is not seen, or is gone */
};

/* caps must outlive it. NULL: no memory. */
struct storage *storage_new(const struct caps_context *caps, const struct storage_asked *asked);
void storage_free(struct storage *storage);
/* Adds a path. Its number among the facts' paths, or -1: no memory. */
long storage_add(struct storage *storage, const char *path, const char *role);
/* The same, of which mount and device are known; mount 0: by the device. */
long storage_add_at(struct storage *storage, const char *path, const char *role, u64 mount, u64 major, u64 minor);
/*
 * The regular files that processes have open for reading. Before the first look: those that a command is given by us,
 * and the agent, which it does not open.
 */
void storage_opened_given(struct storage *storage);
/* A look begins, at as much as one may take. */
void storage_opened_begin(struct storage *storage);
/* At a process; *at: where the look before it has left off, 0: at its first descriptor. */
enum storage_look storage_opened_look(struct storage *storage, u32 pid, u64 *at);
/* One that was there might not be looked at. */
void storage_opened_refused(struct storage *storage);
/* Adds a path for each new one; the facts have how many looks there were. */
void storage_opened_describe(struct storage *storage);
const struct storage_fact *storage_facts(const struct storage *storage);
/*
 * Whether reading past this kernel's page cache of a path may still be answered from memory: what of it is told.
 * False: nothing is known of such a thing.
 */
bool storage_behind(const struct storage_path *path, char *why, size_t size);

#endif
