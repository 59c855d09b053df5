/* SPDX-License-Identifier: MIT */
/*
 * run --block-io: what devices did while the command ran, by /proc/diskstats at both ends, which everybody may read,
 * and, where the tracepoints of requests may be, how long each took (analyze/block.h).
 *
 * Requests end on any CPU and in whatever task: so the tracepoints are those of CPUs, and the figures are of all
 * processes. They lie in a ring for each CPU, as samples do; what comes faster than it is read is lost and counted.
 */
#ifndef CLI_SESSION_BLOCKIO_H
#define CLI_SESSION_BLOCKIO_H

#include "cli/analyze/block.h"
#include "cli/session/ring.h"

struct pollfd;
struct session;

enum blockio_event { BLOCKIO_ISSUE, BLOCKIO_COMPLETE, BLOCKIO_REQUEUE, BLOCKIO_EVENTS };

/* Where the fields of a tracepoint are among its bytes. */
struct blockio_format {
	u32 id;                      /* as in the records, and to open it */
	u32 dev, sector, sectors, rwbs;
	u32 rwbs_size;
	u32 error;                   /* 0: it has none */
};

struct blockio {
	struct block block;
	struct block_stats before;
	struct block_pairs *pairs;
	struct blockio_format format[BLOCKIO_EVENTS];
	struct ring *rings;          /* of each CPU that is online */
	u64 *last_ns;                /* of each, when the newest record that was read was written */
	u32 nrings;
	int *events;                 /* those without a ring of their own */
	u32 nevents;
	bool ended;
};

/* Before the command starts. Without memory, after a message, there is none. */
void blockio_open(struct session *session);
/* Descriptors to be polled: one for each ring. */
u32 blockio_polled(const struct session *session);
u32 blockio_poll_fds(const struct session *session, struct pollfd *fds);
/* Takes what the rings hold; last: also the newest. */
void blockio_drain(struct session *session, bool last);
/* Nothing more is measured. */
void blockio_end(struct session *session);
/* Those of now, or of the end. */
void blockio_facts(struct session *session);
void blockio_free(struct session *session);

/* ---- blockio_open.c */

/* By the text of a tracepoint's file "format". The name of what is not found in it, or NULL. */
const char *blockio_format(const char *text, struct blockio_format *format);
/* The rings; where there are none block.why says why. */
void blockio_open_rings(struct session *session);

/* ---- blockio_drain.c */

/* What a sample tells, by its bytes; the number of the event, or BLOCKIO_EVENTS: none of these, or too short. */
enum blockio_event blockio_parse(const struct blockio *blockio, const u8 *raw, u32 size, struct block_end *end);

#endif
