/* SPDX-License-Identifier: MIT */
/* Brackets in full, for region.c and whoever else opens or closes them; see bracket.c. */
#ifndef SPARK_AGENT_BRACKET_H
#define SPARK_AGENT_BRACKET_H

#include "agent.h"

/*
 * MARKER, all: on a lane that the caller has entered. sp: near the marker's stack pointer. region: the
 * ref of a name; with WIRE_FRAME_CALL the region is a call, and sp its frame's very address.
 */

void bracket_begin(struct thread *t, struct lane *l, u32 region, u64 sp);
/* now: the time stamp that was taken already; 0: none. */
void bracket_end(struct thread *t, struct lane *l, u32 region, u64 sp, u64 now);
/* Whether the region is open, so that its end will not be one without a begin. */
bool bracket_is_open(const struct lane *l, u32 region);
/* The same region again as the last one begun here, or a new one: all that is not usual was looked at. */
void bracket_push(struct thread *t, struct lane *l, u32 node, u32 flags, u64 sp);
/* Closes calls on top whose frames are gone: what is at sp was begun by their caller (longjmp(3), exceptions). */
void bracket_heal(struct lane *l, u64 sp);
/* The node that a region begun now belongs to. */
u32 bracket_parent(const struct lane *l);

#endif
