/* SPDX-License-Identifier: MIT */
/*
 * The walk from a sample's registers to the outermost function; see unwind.h.
 *
 * Each place that was met is kept with its rule and its object, in a table by address: most frames of a run are at
 * places met before, and cost one look into it, the sum of a register and a distance, and a few words of the stack.
 */
#include "cli/symbols/unwind_internal.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_FIRST 256u
#define PLACES_MOST 16384u
#define BUDGET (256u << 10)          /* bytes of instructions for one sample: some 1 ms; a cold stack needs a tenth */
#define SIGNAL_FRAME_MOST (64u << 10) /* between a handler and what it interrupted: 11 KiB with all registers of AMX */
#define REMOTE_MOST 16u              /* steps by libunwind */
#define SPLICE_FINDS 1024u           /* longer callchains than the kernel makes by default, 127 */

/* A step that leads on. */
#define GOES_ON UNWIND_ENDS

struct place {
	u64 address;                 /* of the process; 0: free */
	u64 distance;                /* from the address in the file */
	void *identity;
	struct cfi_rule rule;
};
_Static_assert(sizeof(struct place) <= 64 || UNWIND_SLOTS > 7, "a place is a line of the cache");

struct unwind {
	struct place *places;
	u32 size, misses;            /* since the table grew */
};

struct walk {
	struct unwind *unwind;
	const struct unwind_source *source;
	struct unwind_chain *chain;
	struct unwind_state state;
	size_t budget;
	u32 remote_steps;
	bool call;                   /* the program counter is a return address */
	bool other_stack;            /* a signal frame has led to another stack */
	bool guessed;                /* a frame pointer was followed */
};

/* In the order of perf's numbers, which is that of a sample's registers. */
static const struct { u8 perf, dwarf; } perf_regs[] = { UNWIND_PERF_REGS };

bool unwind_available(void)
{
	return !UNWIND_NONE;
}

u64 unwind_regs_mask(void)
{
	u64 mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(perf_regs) && !UNWIND_NONE; i++)
		mask |= UINT64_C(1) << perf_regs[i].perf;
	return mask;
}

bool unwind_regs_make(u64 sp, u64 pc, u64 *regs)
{
	for (size_t i = 0; i < ARRAY_SIZE(perf_regs) && !UNWIND_NONE; i++)
		regs[i] = perf_regs[i].dwarf == UNWIND_SP ? sp : perf_regs[i].dwarf == UNWIND_PC ? pc : 0;
	return !UNWIND_NONE;
}

const char *unwind_end_name(enum unwind_end end)
{
	static const char *const names[UNWIND_ENDS] = {
		[UNWIND_COMPLETE] = "complete",
		[UNWIND_SHORT] = "stack copy too small",
		[UNWIND_OTHER_STACK] = "signal handler on a stack of its own",
		[UNWIND_NO_CFI] = "no call frame information",
		[UNWIND_BAD_CFI] = "broken call frame information",
		[UNWIND_UNMAPPED] = "return address outside of code",
		[UNWIND_REMOTE] = "call frame information for libunwind alone",
		[UNWIND_MOST] = "deeper than can be followed",
		[UNWIND_ABI] = "no registers of this machine",
	};

	return end < UNWIND_ENDS ? names[end] : "unknown";
}

struct unwind *unwind_new(void)
{
	struct unwind *unwind = calloc(1, sizeof(*unwind));

	if (!unwind)
		return NULL;
	unwind->size = PLACES_FIRST;
	unwind->places = calloc(unwind->size, sizeof(*unwind->places));
	if (unwind->places)
		return unwind;
	free(unwind);
	return NULL;
}

void unwind_free(struct unwind *unwind)
{
	if (!unwind)
		return;
	free(unwind->places);
	free(unwind);
}

void unwind_flush(struct unwind *unwind, u64 start, u64 end)
{
	for (u32 i = 0; i < unwind->size; i++)
		if (unwind->places[i].address >= start && unwind->places[i].address < end)
			unwind->places[i].address = 0;
}

/* ---- places ------------------------------------------------------------------------------------------ */

static struct place *place_at(const struct unwind *unwind, u64 address)
{
	return &unwind->places[(address * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (unwind->size - 1)];
}

static void places_grow(struct unwind *unwind)
{
	struct place *old = unwind->places, *places;
	u32 n = unwind->size;

	unwind->misses = 0;
	places = n < PLACES_MOST ? calloc(n * 2, sizeof(*places)) : NULL;
	if (!places)
		return;
	unwind->places = places;
	unwind->size = n * 2;
	for (u32 i = 0; i < n; i++)
		if (old[i].address)
			*place_at(unwind, old[i].address) = old[i];
	free(old);
}

static struct place *place_learn(struct walk *w, u64 address)
{
	struct unwind_object object;
	struct place *place;
	u64 in_file;

	if (!address || !w->source->find(w->source->context, address, &object))
		return NULL;
	if (++w->unwind->misses > w->unwind->size)
		places_grow(w->unwind);
	place = place_at(w->unwind, address);
	in_file = address - object.start + object.offset;
	place->rule = (struct cfi_rule){ .kind = CFI_NONE };
	if (object.cfi && cfi_address(object.cfi, in_file, &in_file))
		cfi_find(object.cfi, in_file, &w->budget, &place->rule);
	place->identity = object.identity;
	place->distance = address - in_file;
	/* What was not looked at for want of a budget is not kept. */
	place->address = w->budget ? address : 0;
	return place;
}

static inline struct place *place_get(struct walk *w, u64 address)
{
	struct place *place = place_at(w->unwind, address);

	return likely(place->address == address && address) ? place : place_learn(w, address);
}

static void frame_add(struct unwind_chain *chain, u64 pc, bool call, const struct place *place)
{
	struct unwind_frame *frame = &chain->frames[chain->n++];

	frame->pc = pc;
	frame->call = call;
	frame->identity = place ? place->identity : NULL;
	frame->address = place ? pc - place->distance : pc;
}

/* ---- steps ------------------------------------------------------------------------------------------- */

/* Why a word of the stack could not be read. */
static enum unwind_end missing(const struct walk *w, enum unwind_memory memory)
{
	if (w->other_stack)
		return UNWIND_OTHER_STACK;
	return memory == UNWIND_MEMORY_ABOVE ? UNWIND_SHORT : UNWIND_BAD_CFI;
}

/* After a step from sp: how the next one is to be understood. */
static void stepped(struct walk *w, bool interrupted, u64 sp)
{
	w->call = !interrupted;
	w->other_stack = w->other_stack || (interrupted && w->state.regs[UNWIND_SP] - sp > SIGNAL_FRAME_MOST);
}

/* Whether a stack pointer is above the one before: where nothing was called it may be the same. */
static bool rises(const struct walk *w, u64 cfa)
{
	u64 sp = w->state.regs[UNWIND_SP];

	return (cfa > sp || (cfa == sp && !w->call)) && cfa >= sp + UNWIND_CALL_PUSHES;
}

static enum unwind_end registers_load(struct walk *w, const struct cfi_rule *rule, u64 cfa)
{
	static const u8 slots[] = UNWIND_SAVED;
	u64 *regs = w->state.regs, base = regs[rule->base_reg], sp = regs[UNWIND_SP];

	for (u32 saved = rule->saved; saved; saved &= saved - 1) {
		u32 slot = (u32)__builtin_ctz(saved);
		u64 at = (rule->based >> slot & 1 ? base : cfa) + (u64)(s64)rule->at[slot];
		bool leads_on = slots[slot] == UNWIND_PC || slots[slot] == UNWIND_RETURN;
		enum unwind_memory memory;

		/* What lies below the stack pointer was taken back already: compilers do not tell of a pop. */
		if (at < sp && !leads_on)
			continue;
		memory = unwind_load(&w->state, at, &regs[slots[slot]]);
		if (unlikely(memory != UNWIND_MEMORY_HERE) && leads_on)
			return missing(w, memory);
	}
	return GOES_ON;
}

static enum unwind_end step_rule(struct walk *w, const struct cfi_rule *rule)
{
	u64 *regs = w->state.regs, cfa = regs[rule->cfa_reg] + (u64)(s64)rule->cfa_offset, sp;
	bool interrupted = rule->flags & CFI_SIGNAL;
	enum unwind_memory memory;
	enum unwind_end end;

	if (rule->flags & CFI_CFA_LOAD) {
		memory = unwind_load(&w->state, cfa, &cfa);
		if (memory != UNWIND_MEMORY_HERE)
			return missing(w, memory);
		cfa += (u64)(s64)rule->cfa_add;
	}
	if (!interrupted && !rises(w, cfa))
		return UNWIND_BAD_CFI;
	end = registers_load(w, rule, cfa);
	if (end != GOES_ON)
		return end;
	if (!(rule->saved >> (UNWIND_SLOTS - 1) & 1))
		regs[UNWIND_PC] = regs[UNWIND_RETURN];
	if (rule->flags & CFI_SIGNED)
		regs[UNWIND_PC] &= UNWIND_SIGNED_MASK;
	sp = regs[UNWIND_SP];
	regs[UNWIND_SP] = cfa;
	stepped(w, interrupted, sp);
	return GOES_ON;
}

static enum unwind_end step_remote(struct walk *w, const struct cfi_rule *rule, u64 address)
{
	bool interrupted = rule->flags & CFI_SIGNAL;
	struct unwind_state state = w->state;
	struct unwind_object object;
	u64 in_file, sp;

	if (!unwind_remote_available())
		return UNWIND_REMOTE;
	if (++w->remote_steps > REMOTE_MOST || !w->source->find(w->source->context, address, &object) || !object.cfi ||
	    !cfi_address(object.cfi, address - object.start + object.offset, &in_file) ||
	    !unwind_remote_step(&state, object.cfi, in_file, address - in_file))
		return UNWIND_BAD_CFI;
	if (!interrupted && !rises(w, state.regs[UNWIND_SP]))
		return UNWIND_BAD_CFI;
	sp = w->state.regs[UNWIND_SP];
	w->state = state;
	stepped(w, interrupted, sp);
	return GOES_ON;
}

/*
 * From an innermost function of a file that does not tell of it, mostly a stub of a procedure linkage table: it has
 * made no frame if the return address is where a call leaves it. That it belongs to a function with information shows
 * that it is not of one that was called from here and is back.
 */
static bool step_stub(struct walk *w)
{
	u64 *regs = w->state.regs, sp = regs[UNWIND_SP], back = regs[UNWIND_RETURN], record;
	const struct place *caller;
	struct unwind_object object;

	if (w->call || !w->source->find(w->source->context, regs[UNWIND_PC], &object) || !object.cfi)
		return false;
	if (UNWIND_CALL_PUSHES && unwind_load(&w->state, sp, &back) != UNWIND_MEMORY_HERE)
		return false;
	if (!UNWIND_CALL_PUSHES && unwind_load(&w->state, regs[UNWIND_FP] + 8, &record) == UNWIND_MEMORY_HERE &&
	    record == back)
		return false;
	caller = place_get(w, back - 1);
	if (!caller || caller->rule.kind == CFI_NONE)
		return false;
	regs[UNWIND_PC] = back;
	regs[UNWIND_SP] = sp + UNWIND_CALL_PUSHES;
	w->call = true;
	return true;
}

/* Without information: generated code mostly has frame pointers, and what they lead to has to be code. */
static enum unwind_end step_frame_pointer(struct walk *w)
{
	u64 *regs = w->state.regs, fp = regs[UNWIND_FP], next, pc;
	struct unwind_object object;

	if (step_stub(w))
		return GOES_ON;
	if (fp < regs[UNWIND_SP] || fp % 8 || unwind_load(&w->state, fp, &next) != UNWIND_MEMORY_HERE ||
	    unwind_load(&w->state, fp + 8, &pc) != UNWIND_MEMORY_HERE || pc < 2 ||
	    !w->source->find(w->source->context, pc - 1, &object))
		return UNWIND_NO_CFI;
	regs[UNWIND_FP] = next;
	regs[UNWIND_SP] = fp + 16;
	regs[UNWIND_PC] = pc;
	w->call = w->guessed = true;
	return GOES_ON;
}

/*
 * In a system call the program counter lies behind its instruction, which may be the last of a function: so it is in
 * the trampoline of signal handlers.
 */
static const struct place *place_before(struct walk *w, u64 pc, const struct place *place)
{
	const struct place *before = place_get(w, pc - 1);

	if (!before)
		return place;
	w->call = before->rule.kind != CFI_NONE;
	return before;
}

static enum unwind_end walk_on(struct walk *w)
{
	enum unwind_end end;

	do {
		u64 pc = w->state.regs[UNWIND_PC], address = pc - w->call;
		const struct place *place;

		if (!pc && w->chain->n)
			return UNWIND_COMPLETE;
		if (w->chain->n == UNWIND_FRAMES)
			return UNWIND_MOST;
		place = place_get(w, address);
		if (place && place->rule.kind == CFI_NONE && !w->call)
			place = place_before(w, pc, place);
		if (place || !w->chain->n)
			/* A handler returns to where its trampoline begins: nothing was called before it. */
			frame_add(w->chain, pc, w->call && !(place && place->rule.flags & CFI_SIGNAL), place);
		if (!place)
			return UNWIND_UNMAPPED;
		switch (place->rule.kind) {
		case CFI_RULE:
			end = step_rule(w, &place->rule);
			break;
		case CFI_REMOTE:
			end = step_remote(w, &place->rule, address);
			break;
		case CFI_NONE:
			end = step_frame_pointer(w);
			break;
		default:
			end = place->rule.kind == CFI_OUTERMOST ? UNWIND_COMPLETE : UNWIND_BAD_CFI;
			w->chain->sure = end == UNWIND_COMPLETE && !w->guessed;
		}
	} while (end == GOES_ON);
	return end;
}

/* ---- the sample -------------------------------------------------------------------------------------- */

/*
 * Where in the callchain the last frame is, plus 1; 0: nowhere. In a recursion one return address is there several
 * times: the n-th in the chain is the n-th in the callchain.
 */
static size_t splice_place(const struct unwind_sample *sample, const struct unwind_chain *chain)
{
	u32 times = 0;

	for (u32 i = 0; i < chain->n; i++)
		times += chain->frames[i].pc == chain->frames[chain->n - 1].pc;
	for (size_t i = 0; i < MIN(sample->ncallchain, SPLICE_FINDS); i++)
		if (!times || (sample->callchain[i] == chain->frames[chain->n - 1].pc && !--times))
			return i + (chain->n ? 1 : 0);
	return sample->ncallchain;
}

/* Puts what the kernel found by frame pointers behind a chain that ends too early. */
static void splice(struct walk *w, const struct unwind_sample *sample)
{
	struct unwind_chain *chain = w->chain;
	const struct place *place = NULL;
	size_t i;

	for (i = splice_place(sample, chain); i < sample->ncallchain && chain->n < UNWIND_FRAMES; i++) {
		u64 pc = sample->callchain[i];
		bool call = chain->n > 0;

		place = place_get(w, pc - call);
		frame_add(chain, pc, call, place);
		chain->spliced++;
	}
	if (place && place->rule.kind == CFI_OUTERMOST && i == sample->ncallchain)
		chain->end = UNWIND_COMPLETE;
}

void unwind_sample_chain(struct unwind *unwind, const struct unwind_source *source, const struct unwind_sample *sample,
	struct unwind_chain *chain)
{
	struct walk w = { .unwind = unwind, .source = source, .chain = chain, .budget = BUDGET };

	chain->n = chain->spliced = 0;
	chain->sure = false;
	chain->end = UNWIND_ABI;
	if (!UNWIND_NONE && sample->abi == PERF_SAMPLE_REGS_ABI_64 && sample->regs) {
		for (size_t i = 0; i < ARRAY_SIZE(perf_regs); i++)
			w.state.regs[perf_regs[i].dwarf] = sample->regs[i];
		w.state.stack = sample->stack;
		w.state.low = w.state.regs[UNWIND_SP];
		w.state.size = MIN(sample->size, UINT64_MAX - w.state.low);
		chain->end = walk_on(&w);
	}
	if (chain->end != UNWIND_COMPLETE && chain->end != UNWIND_MOST)
		splice(&w, sample);
}
