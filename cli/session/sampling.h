/* SPDX-License-Identifier: MIT */
/*
 * Sampling of the whole tree: a ring for each CPU, armed on the stopped child with inherit and
 * enable_on_exec, drained while the program runs. Each sample gets its region and its stack at once,
 * so that memory does not grow with the time of the run but with the number of places seen.
 *
 * The rings are opened here and not in the target: nothing is lost before the agent is loaded, no
 * limit of the target matters, and programs that no agent enters are sampled as well. Agents get
 * descriptors to map them for reading, and close those (WIRE_WATCH).
 */
#ifndef CLI_SESSION_SAMPLING_H
#define CLI_SESSION_SAMPLING_H

#include "cli/session/attribute.h"
#include "cli/session/feed.h"
#include "cli/session/ring.h"
#include "cli/session/session.h"

struct offcpu;
struct session;
struct spaces;
struct record;

/* A record that waits for its turn in time. */
struct sampling_record {
	u64 time_ns;
	u64 position;                /* in its ring */
	u32 ring;
	const u8 *bytes;             /* in the ring; NULL: it wraps, and lies in sampling.bytes ... */
	size_t at;                   /* ... here */
};

/* What a ring told last: what is lost next is of the same region if the next sample is, too. */
struct sampling_edge {
	struct samples_missed last;  /* of the newest sample */
	bool any;
	u64 lost;                    /* since then */
};

struct sampling {
	struct samples samples;
	struct attribute attribute;
	struct spaces *spaces;
	struct chains *chains;
	struct ring *rings;
	struct ring_walk *walks;     /* of each: what the batch has of it */
	struct sampling_edge *edges; /* of each */
	u32 nrings;
	struct perf_event_attr attr; /* of threads that were attached to, and their events */
	struct feed feed;
	u32 nstacks;                 /* rings behind those, of stacks at switches */
	u64 stacks_type;             /* what their samples have, of RECORD_STACKS */
	u32 nwakes;                  /* and behind those, of wake-ups */
	u32 nwakers;                 /* and then of those that threads of the tree make, with stacks */
	u64 wakers_type;
	struct offcpu *off;          /* NULL: not watched for */
	size_t wanted, pages;        /* of each ring: were nothing short, and in fact */
	u64 stacks;                  /* which of RECORD_STACKS samples have */
	u64 regs;                    /* mask of registers */
	bool kernel;                 /* kernel side, too */
	bool attached;
	bool hidden;                 /* agents are not to have the rings */
	pid_t task;                  /* on which it is tried */
	u8 *bytes;                   /* of records of the batch that wrap */
	size_t used, room;
	struct sampling_record *batch;
	size_t nbatch, batch_room;
	u32 *objects;                /* of spaces, as objects of samples, by number; 0: none yet, else the index + 1 */
	u32 nobjects;
};

/* Opens the rings on the stopped child. Where it cannot be done, after a warning, the run is without samples. */
void sampling_open(struct session *session);
/*
 * The same for threads that run already, which are then to be added, and whose mappings to be looked at; the first of
 * them tells what the kernel allows.
 */
void sampling_open_attached(struct session *session, pid_t tid);
/* What the report is to say of the samples, too. */
void sampling_note(struct sampling *sampling, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* 0 or -errno. */
int sampling_add(struct session *session, pid_t tid);
/* What processes had mapped before their threads were added. */
void sampling_look(struct session *session, u64 time_ns);
/* Takes what the rings hold; last: also the newest. */
void sampling_drain(struct session *session, bool last);
/* At the end of the run: the functions and lines of all frames. */
void sampling_name(struct session *session);
/* The samples so far with names, as session.sampling->samples, until sampling_name_end(). */
struct sampling_named {
	struct samples samples;      /* those that go on */
	bool copied;
};

void sampling_name_copy(struct session *session, struct sampling_named *named);
void sampling_name_end(struct session *session, struct sampling_named *named);
void sampling_free(struct session *session);
/* How many rings there are, of all sorts. */
u32 sampling_rings(const struct sampling *sampling);

#endif
