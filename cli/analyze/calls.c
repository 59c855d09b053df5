/* SPDX-License-Identifier: MIT */
/* Pairing entries and returns; see calls.h. */
#include "cli/analyze/calls.h"

#include <stdlib.h>
#include <string.h>

#include "cli/analyze/profile_build.h"

#define DEPTH_MOST 1024            /* calls in each other; the kernel catches 64 returns (MAX_URETPROBE_DEPTH) */
#define STACK_NEAR (1u << 20)      /* what lies further away may be another stack */
#define ENDED_MOST (1u << 16)

struct calls_frame {
	u64 sp, ns;
	u32 function;
	u32 row;                     /* PROFILE_NONE: it was entered before the fork */
};

/* Calls without a time, of one function. */
struct calls_odd {
	u64 skipped, unmatched;
};

struct calls_thread {
	struct calls_thread *next;   /* in its bucket */
	u32 pid, tid;
	u32 process;
	u32 root;                    /* row; PROFILE_NONE: none yet */
	u64 first_ns, last_ns;
	u32 depth, room;
	bool returning;              /* what called the one that has just returned in its place returns next */
	struct calls_frame *frames;
	struct calls_odd *odd;       /* of each function; NULL: none yet */
};

/* ---- threads --------------------------------------------------------------------------------------- */

static struct calls_thread **thread_place(struct calls *calls, u32 pid, u32 tid)
{
	struct calls_thread **place = &calls->threads[tid % CALLS_BUCKETS];

	while (*place && ((*place)->tid != tid || (*place)->pid != pid))
		place = &(*place)->next;
	return place;
}

static struct calls_thread *thread_find(struct calls *calls, const struct calls_at *at)
{
	struct calls_thread **place = thread_place(calls, at->pid, at->tid), *thread = *place;
	u32 process;

	if (thread)
		return thread;
	process = calls->process(calls->context, at->pid, at->ns);
	thread = process ? calloc(1, sizeof(*thread)) : NULL;
	if (process && !thread)
		calls->profile->no_memory = true;
	if (!thread)
		return NULL;
	*thread = (struct calls_thread){
		.pid = at->pid, .tid = at->tid, .process = process, .root = PROFILE_NONE,
		.first_ns = at->ns, .last_ns = at->ns,
	};
	*place = thread;
	return thread;
}

static void thread_free(struct calls_thread *thread)
{
	free(thread->frames);
	free(thread->odd);
	free(thread);
}

static struct calls_odd *thread_odd(struct calls *calls, struct calls_thread *thread, u32 function)
{
	static struct calls_odd lost;

	if (!thread->odd)
		thread->odd = calloc(calls->nfunctions, sizeof(*thread->odd));
	return thread->odd ? &thread->odd[function] : &lost;
}

static u32 name_of(struct calls *calls, u32 function)
{
	return profile_intern(calls->profile, calls->names[function], strlen(calls->names[function]));
}

/* ---- rows ------------------------------------------------------------------------------------------ */

bool calls_is_root(const struct profile *profile, u32 row)
{
	const struct profile_row *r = &profile->rows[row];

	return r->depth == 1 && !strcmp(profile->names[r->name].bytes, CALLS_ROOT);
}

bool calls_below_root(const struct profile *profile, u32 row)
{
	while (profile->rows[row].depth > 1) {
		row = profile->rows[row].parent;
		if (calls_is_root(profile, row))
			return true;
	}
	return false;
}

static const char time_alone[] = "of regions by uprobes only the time is known";

const char *calls_lack(const struct profile *profile, const struct profile_row *row)
{
	size_t i = (size_t)(row - profile->rows);

	if (i >= profile->nrows || !row->depth)
		return NULL;
	return calls_is_root(profile, (u32)i) || calls_below_root(profile, (u32)i) ? time_alone : NULL;
}

static void row_outside(struct profile_row *row)
{
	row->cpu_state = CELL_UNAVAILABLE;
	row->cpu_note = time_alone;
}

static void add_origin(struct calls *calls, u32 name, const char *path)
{
	profile_add_origin(calls->profile, &(struct profile_origin){
		.name = name, .kind = WIRE_ORIGIN_PROBED, .caller = PROFILE_NONE,
		.library = path ? profile_intern(calls->profile, path, strlen(path)) : PROFILE_NONE,
	});
}

static u32 row_root(struct calls *calls, struct calls_thread *thread)
{
	struct profile *profile = calls->profile;
	u32 top, name;

	if (thread->root != PROFILE_NONE)
		return thread->root;
	top = profile_root(profile, thread->process, thread->pid, thread->tid);
	name = profile_intern(profile, CALLS_ROOT, strlen(CALLS_ROOT));
	if (top != PROFILE_NONE && name != PROFILE_NONE)
		thread->root = profile_child(profile, top, name);
	if (thread->root != PROFILE_NONE) {
		row_outside(&profile->rows[thread->root]);
		add_origin(calls, name, NULL);
	}
	return thread->root;
}

/* Below the innermost call that is open. */
static u32 row_below(struct calls *calls, struct calls_thread *thread, u32 function)
{
	u32 parent = PROFILE_NONE, name = name_of(calls, function), row;

	for (u32 i = thread->depth; i-- && parent == PROFILE_NONE;)
		parent = thread->frames[i].row;
	if (parent == PROFILE_NONE)
		parent = row_root(calls, thread);
	if (parent == PROFILE_NONE || name == PROFILE_NONE)
		return PROFILE_NONE;
	row = profile_child(calls->profile, parent, name);
	if (row == PROFILE_NONE)
		return row;
	row_outside(&calls->profile->rows[row]);
	if (!calls->met[function])
		add_origin(calls, name, calls->paths[function]);
	calls->met[function] = true;
	return row;
}

static void row_count(struct calls *calls, struct profile_row *row, u32 function, u64 raw)
{
	u64 cost = (u64)((double)calls->bracket_ns[function] * calls->ticks_per_ns), own = raw - MIN(raw, cost);
	u32 i = hist_index(raw);
	u64 **octave = &row->hist.octave[i / WIRE_HIST_SUB];

	row->calls++;
	row->raw_wall += raw;
	row->wall += own;
	row->bracket += (double)(raw - own);
	row->min = MIN(row->min, own);
	row->max = MAX(row->max, own);
	if (!*octave)
		*octave = calloc(WIRE_HIST_SUB, sizeof(u64));
	if (*octave)
		(*octave)[i % WIRE_HIST_SUB]++;
	else
		calls->profile->no_memory = true;
}

static u64 frame_ticks(const struct calls *calls, const struct calls_frame *frame, u64 ns)
{
	u64 begin = MAX(frame->ns, calls->since_ns);

	return ns > begin ? (u64)((double)(ns - begin) * calls->ticks_per_ns) : 0;
}

/* Nothing around it is known: it is one of those that CALLS_ROOT has the time of. */
static bool frame_outermost(const struct calls_thread *thread, u32 at)
{
	while (at--)
		if (thread->frames[at].row != PROFILE_NONE)
			return false;
	return true;
}

static void frame_count(struct calls *calls, struct calls_thread *thread, u32 at, u64 ns, bool left)
{
	const struct calls_frame *frame = &thread->frames[at];
	u64 ticks = frame_ticks(calls, frame, ns);

	if (frame->row == PROFILE_NONE || frame->ns < calls->since_ns)
		return;
	row_count(calls, &calls->profile->rows[frame->row], frame->function, ticks);
	calls->profile->rows[frame->row].left += left;
	if (frame_outermost(thread, at))
		row_count(calls, &calls->profile->rows[thread->root], frame->function, ticks);
	calls->paired[frame->function]++;
}

/* ---- events ---------------------------------------------------------------------------------------- */

static void frame_remove(struct calls_thread *thread, u32 at)
{
	thread->depth--;
	memmove(&thread->frames[at], &thread->frames[at + 1], (thread->depth - at) * sizeof(*thread->frames));
}

static void frame_skip(struct calls *calls, struct calls_thread *thread, u32 at)
{
	if (thread->frames[at].row != PROFILE_NONE)
		thread_odd(calls, thread, thread->frames[at].function)->skipped++;
	frame_remove(thread, at);
}

/*
 * Of functions in one place on the stack, each was called as the last thing that the one before it did,
 * and returns with it: if not, the one before had been left, and the place was used again.
 */
static void frames_returning(struct calls *calls, struct calls_thread *thread)
{
	u64 sp = thread->depth ? thread->frames[thread->depth - 1].sp : 0;

	if (!thread->returning)
		return;
	thread->returning = false;
	while (thread->depth && thread->frames[thread->depth - 1].sp == sp)
		frame_skip(calls, thread, thread->depth - 1);
}

/*
 * What an entry shows to be over: calls deeper on the same stack, and the same function in the same
 * place, since compilers make loops of functions that end by calling themselves.
 */
static void frames_passed(struct calls *calls, struct calls_thread *thread, u64 sp, u32 function)
{
	u32 at = thread->depth;

	while (at && sp > thread->frames[at - 1].sp && sp - thread->frames[at - 1].sp < STACK_NEAR)
		frame_skip(calls, thread, --at);
	for (; at && thread->frames[at - 1].sp == sp; at--)
		if (thread->frames[at - 1].function == function) {
			while (thread->depth >= at)
				frame_skip(calls, thread, thread->depth - 1);
			return;
		}
}

static bool frames_room(struct calls *calls, struct calls_thread *thread)
{
	struct calls_frame *frames;
	u32 room = MAX(2 * thread->room, 16u);

	while (thread->depth >= DEPTH_MOST)
		frame_skip(calls, thread, 0);
	if (thread->depth < thread->room)
		return true;
	frames = realloc(thread->frames, room * sizeof(*frames));
	if (!frames) {
		calls->profile->no_memory = true;
		return false;
	}
	thread->frames = frames;
	thread->room = room;
	return true;
}

void calls_enter(struct calls *calls, const struct calls_at *at, u32 function)
{
	struct calls_thread *thread = thread_find(calls, at);
	u32 row;

	if (!thread)
		return;
	thread->last_ns = at->ns;
	frames_returning(calls, thread);
	if (at->sp)
		frames_passed(calls, thread, at->sp, function);
	if (!frames_room(calls, thread))
		return;
	row = row_below(calls, thread, function);
	if (row != PROFILE_NONE)
		thread->frames[thread->depth++] = (struct calls_frame){ at->sp, at->ns, function, row };
}

void calls_return(struct calls *calls, const struct calls_at *at, u32 function)
{
	struct calls_thread *thread = thread_find(calls, at);
	const struct calls_frame *top;
	u32 i;

	if (!thread)
		return;
	thread->last_ns = at->ns;
	top = thread->depth ? &thread->frames[thread->depth - 1] : NULL;
	if (!top || top->function != function || top->sp != at->sp)
		frames_returning(calls, thread);
	for (i = thread->depth; i; i--)
		if (thread->frames[i - 1].function == function && thread->frames[i - 1].sp == at->sp)
			break;
	if (!i) {
		thread_odd(calls, thread, function)->unmatched++;
		return;
	}
	/* Those on another stack, which lies higher, go on. */
	for (u32 k = thread->depth; k > i; k--)
		if (thread->frames[k - 1].sp <= at->sp)
			frame_skip(calls, thread, k - 1);
	frame_count(calls, thread, i - 1, at->ns, false);
	frame_remove(thread, i - 1);
	thread->returning = i > 1 && i - 1 == thread->depth && at->sp && thread->frames[i - 2].sp == at->sp;
}

void calls_fork(struct calls *calls, const struct calls_at *child, u32 parent_pid, u32 parent_tid)
{
	struct calls_thread *parent = *thread_place(calls, parent_pid, parent_tid), *thread;

	/* Its number may have been another one's, of whose end the record was lost. */
	calls_end(calls, child);
	if (child->pid == parent_pid || !parent || !parent->depth)
		return;
	thread = thread_find(calls, child);
	if (!thread)
		return;
	thread->frames = malloc(parent->depth * sizeof(*thread->frames));
	if (!thread->frames)
		return;
	thread->depth = thread->room = parent->depth;
	memcpy(thread->frames, parent->frames, parent->depth * sizeof(*thread->frames));
	for (u32 i = 0; i < thread->depth; i++)
		thread->frames[i].row = PROFILE_NONE;
}

/* ---- ends ------------------------------------------------------------------------------------------ */

static void frame_stay(struct calls *calls, struct calls_thread *thread, u32 at, u64 ns)
{
	const struct calls_frame *frame = &thread->frames[at];
	struct profile *profile = calls->profile;
	u64 ticks = frame_ticks(calls, frame, ns);

	profile->rows[frame->row].open++;
	profile->rows[frame->row].wall += ticks;
	if (frame_outermost(thread, at)) {
		profile->rows[thread->root].open++;
		profile->rows[thread->root].wall += ticks;
	}
	profile_add_open(profile, &(struct profile_diag){ .process = thread->process, .tid = thread->tid,
			 .name = profile->rows[frame->row].name, .count = 1 });
}

static void thread_diagnose(struct calls *calls, const struct calls_thread *thread, u32 kind, u32 function, u64 count)
{
	struct profile_diag diag = { .process = thread->process, .tid = thread->tid, .kind = kind, .count = count };

	diag.name = count ? name_of(calls, function) : PROFILE_NONE;
	if (diag.name != PROFILE_NONE)
		profile_add_diag(calls->profile, &diag);
}

/* For the report by thread, which has no other entry of it where it met no marker. */
static void thread_keep(struct calls *calls, const struct calls_thread *thread)
{
	struct profile_thread *list;
	u32 room = MAX(2 * calls->ended_room, 64u);

	if (calls->profile->group != PROFILE_BY_THREAD || thread->root == PROFILE_NONE || calls->nended == ENDED_MOST)
		return;
	if (calls->nended == calls->ended_room) {
		list = realloc(calls->ended, room * sizeof(*list));
		if (!list)
			return;
		calls->ended = list;
		calls->ended_room = room;
	}
	calls->ended[calls->nended] = (struct profile_thread){
		.process = thread->process, .pid = thread->pid, .tid = calls->profile->rows[thread->root].tid,
		.threads = 1, .detector = ~0u,
		.wall = (u64)((double)(thread->last_ns - thread->first_ns) * calls->ticks_per_ns),
	};
	usage_fill_absent(&calls->ended[calls->nended++].usage, "the thread met no marker");
}

/* stay: what is open stays so; else the thread alone ended. */
static void thread_end(struct calls *calls, struct calls_thread *thread, u64 ns, bool stay)
{
	thread->last_ns = ns;
	frames_returning(calls, thread);
	for (u32 i = thread->depth; i--;) {
		if (thread->frames[i].row == PROFILE_NONE)
			continue;
		if (stay) {
			frame_stay(calls, thread, i, ns);
			continue;
		}
		frame_count(calls, thread, i, ns, true);
		thread_diagnose(calls, thread, WIRE_DIAG_THREAD_END, thread->frames[i].function, 1);
	}
	for (u32 i = 0; thread->odd && i < calls->nfunctions; i++) {
		thread_diagnose(calls, thread, WIRE_DIAG_SKIPPED, i, thread->odd[i].skipped);
		thread_diagnose(calls, thread, WIRE_DIAG_UNMATCHED, i, thread->odd[i].unmatched);
	}
	thread_keep(calls, thread);
	thread_free(thread);
}

void calls_end(struct calls *calls, const struct calls_at *at)
{
	struct calls_thread **place = thread_place(calls, at->pid, at->tid), *thread = *place;

	if (!thread)
		return;
	*place = thread->next;
	thread_end(calls, thread, at->ns, at->pid == at->tid);
}

static bool thread_known(const struct profile *profile, u32 n, const struct profile_thread *thread)
{
	for (u32 i = 0; i < n; i++)
		if (profile->threads[i].process == thread->process && profile->threads[i].tid == thread->tid)
			return true;
	return false;
}

void calls_close(struct calls *calls, u64 ns)
{
	u32 known = calls->profile->nthreads;

	for (u32 i = 0; i < CALLS_BUCKETS; i++)
		while (calls->threads[i]) {
			struct calls_thread *thread = calls->threads[i];

			calls->threads[i] = thread->next;
			thread_end(calls, thread, MAX(ns, thread->last_ns), true);
		}
	for (u32 i = 0; i < calls->nended; i++)
		if (!thread_known(calls->profile, known, &calls->ended[i]))
			profile_add_thread(calls->profile, &calls->ended[i]);
	calls->nended = 0;
}

void calls_free(struct calls *calls)
{
	for (u32 i = 0; i < CALLS_BUCKETS; i++)
		while (calls->threads[i]) {
			struct calls_thread *thread = calls->threads[i];

			calls->threads[i] = thread->next;
			thread_free(thread);
		}
	free(calls->ended);
	calls->ended = NULL;
}
