/* SPDX-License-Identifier: MIT */
/*
 * Executes the instructions of a description up to an address (DWARF 5, 6.4) and makes a rule of what holds there.
 * Of expressions those forms are known that occur: a register plus a distance, what lies there, and the one of
 * procedure linkage tables.
 */
#include "cli/symbols/cfi_internal.h"

#include <string.h>

#define REMEMBERED 8u
#define ENTRY_SIZE 64u               /* the first function of a program, which some C libraries do not describe */
#define NO_SLOT UNWIND_SLOTS

enum how { HOW_SAME, HOW_UNDEFINED, HOW_OFFSET, HOW_EXPRESSION, HOW_OTHER };

/* Where a register of the caller is. */
struct place {
	enum how how;
	s64 offset;                  /* from the CFA */
	struct cfi_bytes expression;
};

struct state {
	bool expression;             /* the CFA is one */
	u64 reg;
	s64 offset;
	struct cfi_bytes cfa;
	bool is_signed;
	struct place places[UNWIND_SLOTS];
};

struct machine {
	const struct cfi_description *d;
	u64 address;                 /* what the rule is for */
	u64 location;                /* from where on the instructions that follow hold */
	struct state state, initial, remembered[REMEMBERED];
	u32 nremembered;
	bool bad;
};

static const u8 slots[] = UNWIND_SAVED;
_Static_assert(sizeof(slots) == UNWIND_SLOTS, "UNWIND_SLOTS counts UNWIND_SAVED");
_Static_assert(UNWIND_SLOTS <= 16, "struct cfi_rule has 16 bits for them");

static u32 slot_of(u64 reg)
{
	u32 i;

	for (i = 0; i < UNWIND_SLOTS && slots[i] != reg; i++)
		;
	return i;
}

static void place_set(struct machine *m, u64 reg, enum how how, s64 offset)
{
	u32 slot = slot_of(reg);

	if (slot != NO_SLOT)
		m->state.places[slot] = (struct place){ .how = how, .offset = offset };
}

/* Wraps instead of overflowing: the numbers are a stranger's. */
static s64 aligned(const struct machine *m, u64 n)
{
	return (s64)(n * (u64)m->d->data_align);
}

static void place_restore(struct machine *m, u64 reg)
{
	u32 slot = slot_of(reg);

	if (slot != NO_SLOT)
		m->state.places[slot] = m->initial.places[slot];
}

static void place_expression(struct machine *m, struct cfi_bytes *bytes, enum how how)
{
	u32 slot = slot_of(cfi_uleb(bytes));
	struct cfi_bytes expression = cfi_take(bytes, cfi_uleb(bytes));

	if (slot != NO_SLOT)
		m->state.places[slot] = (struct place){ .how = how, .expression = expression };
}

static void cfa_set(struct machine *m, u64 reg, s64 offset)
{
	m->state.expression = false;
	m->state.reg = reg;
	m->state.offset = offset;
}

static void remember(struct machine *m)
{
	if (m->nremembered == REMEMBERED)
		m->bad = true;
	else
		m->remembered[m->nremembered++] = m->state;
}

static void recall(struct machine *m)
{
	if (!m->nremembered)
		m->bad = true;
	else
		m->state = m->remembered[--m->nremembered];
}

/* The instructions about the CFA. */
static bool execute_cfa(struct machine *m, struct cfi_bytes *bytes, u8 code)
{
	u64 reg;

	switch (code) {
	case 0x0c: /* def_cfa */
		reg = cfi_uleb(bytes);
		cfa_set(m, reg, (s64)cfi_uleb(bytes));
		return true;
	case 0x0d: /* def_cfa_register */
		cfa_set(m, cfi_uleb(bytes), m->state.offset);
		return true;
	case 0x0e: /* def_cfa_offset */
		cfa_set(m, m->state.reg, (s64)cfi_uleb(bytes));
		return true;
	case 0x0f: /* def_cfa_expression */
		m->state.cfa = cfi_take(bytes, cfi_uleb(bytes));
		m->state.expression = true;
		return true;
	case 0x12: /* def_cfa_sf */
		reg = cfi_uleb(bytes);
		cfa_set(m, reg, aligned(m, (u64)cfi_sleb(bytes)));
		return true;
	case 0x13: /* def_cfa_offset_sf */
		cfa_set(m, m->state.reg, aligned(m, (u64)cfi_sleb(bytes)));
		return true;
	default:
		return false;
	}
}

/* The instructions about registers. */
static bool execute_register(struct machine *m, struct cfi_bytes *bytes, u8 code)
{
	u64 reg;

	switch (code) {
	case 0x05: /* offset_extended */
	case 0x11: /* offset_extended_sf */
		reg = cfi_uleb(bytes);
		place_set(m, reg, HOW_OFFSET, aligned(m, code == 0x05 ? cfi_uleb(bytes) : (u64)cfi_sleb(bytes)));
		return true;
	case 0x2f: /* GNU_negative_offset_extended */
		reg = cfi_uleb(bytes);
		place_set(m, reg, HOW_OFFSET, (s64)(0 - (u64)aligned(m, cfi_uleb(bytes))));
		return true;
	case 0x06: /* restore_extended */
		place_restore(m, cfi_uleb(bytes));
		return true;
	case 0x07: /* undefined */
		place_set(m, cfi_uleb(bytes), HOW_UNDEFINED, 0);
		return true;
	case 0x08: /* same_value */
		place_set(m, cfi_uleb(bytes), HOW_SAME, 0);
		return true;
	case 0x09: /* register */
	case 0x14: /* val_offset */
	case 0x15: /* val_offset_sf: as many bytes */
		reg = cfi_uleb(bytes);
		cfi_uleb(bytes);
		place_set(m, reg, HOW_OTHER, 0);
		return true;
	case 0x10: /* expression */
		place_expression(m, bytes, HOW_EXPRESSION);
		return true;
	case 0x16: /* val_expression */
		place_expression(m, bytes, HOW_OTHER);
		return true;
	default:
		return false;
	}
}

/* The instructions about the location; false: it is none of them, and nobody knows it. */
static bool execute_other(struct machine *m, struct cfi_bytes *bytes, u8 code)
{
	switch (code) {
	case 0x00: /* nop */
		return true;
	case 0x01: /* set_loc */
		m->location = cfi_pointer(bytes, m->d->encoding & 0x7f, 0);
		return true;
	case 0x02: /* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04:
		m->location += cfi_get(bytes, 1u << (code - 2)) * m->d->code_align;
		return true;
	case 0x0a:
		remember(m);
		return true;
	case 0x0b:
		recall(m);
		return true;
	case 0x2d: /* AARCH64_negate_ra_state */
		m->state.is_signed = !m->state.is_signed;
		return true;
	case 0x2e: /* GNU_args_size */
		cfi_uleb(bytes);
		return true;
	default:
		return false;
	}
}

static void execute(struct machine *m, struct cfi_bytes bytes)
{
	while (bytes.at < bytes.end && !bytes.bad && !m->bad) {
		u8 code = (u8)cfi_get(&bytes, 1), low = code & 0x3f;

		switch (code & 0xc0) {
		case 0x40: /* advance_loc */
			m->location += low * m->d->code_align;
			break;
		case 0x80: /* offset */
			place_set(m, low, HOW_OFFSET, aligned(m, cfi_uleb(&bytes)));
			break;
		case 0xc0: /* restore */
			place_restore(m, low);
			break;
		default:
			if (!execute_cfa(m, &bytes, code) && !execute_register(m, &bytes, code) && !execute_other(m, &bytes, code))
				m->bad = true;
		}
		if (m->location > m->address)
			break;
	}
	m->bad = m->bad || bytes.bad;
}

/* ---- the rule ---------------------------------------------------------------------------------------- */

/* register + offset, or what lies there, plus add */
struct simple {
	u64 reg;
	s64 offset, add;
	bool load;
};

static bool simple_read(struct cfi_bytes bytes, struct simple *s)
{
	u8 code = (u8)cfi_get(&bytes, 1);

	*s = (struct simple){ .reg = code - 0x70u };
	if (code == 0x92) /* bregx */
		s->reg = cfi_uleb(&bytes);
	else if (code < 0x70 || code > 0x8f) /* breg0 to breg31 */
		return false;
	s->offset = cfi_sleb(&bytes);
	while (bytes.at < bytes.end && !bytes.bad) {
		code = (u8)cfi_get(&bytes, 1);
		if (code == 0x06 && !s->load) /* deref */
			s->load = true;
		else if (code == 0x23) /* plus_uconst */
			*(s->load ? &s->add : &s->offset) = (s64)((u64)(s->load ? s->add : s->offset) + cfi_uleb(&bytes));
		else
			return false;
	}
	return !bytes.bad;
}

static bool plt_read(struct cfi_bytes bytes, u64 address, struct simple *s)
{
	const size_t head = sizeof(UNWIND_PLT_HEAD) - 1, tail = sizeof(UNWIND_PLT_TAIL) - 1;
	u8 literal;

	if (!head || (size_t)(bytes.end - bytes.at) != head + 1 + tail || memcmp(bytes.at, UNWIND_PLT_HEAD, head) ||
	    memcmp(bytes.at + head + 1, UNWIND_PLT_TAIL, tail))
		return false;
	literal = bytes.at[head];
	*s = (struct simple){ .reg = UNWIND_SP, .offset = (address & 15) + 0x30 >= literal ? 16 : 8 };
	return literal >= 0x30 && literal < 0x50;
}

static bool fits(s64 n)
{
	return n >= INT32_MIN && n <= INT32_MAX;
}

static u8 rule_cfa(const struct machine *m, struct cfi_rule *rule)
{
	struct simple s = { .reg = m->state.reg, .offset = m->state.offset };

	if (m->state.expression && !simple_read(m->state.cfa, &s) && !plt_read(m->state.cfa, m->address, &s))
		return CFI_REMOTE;
	if (s.add != (int8_t)s.add)
		return CFI_REMOTE;
	if (s.reg >= UNWIND_REGS || !fits(s.offset))
		return CFI_BAD;
	rule->cfa_reg = (u8)s.reg;
	rule->cfa_offset = (s32)s.offset;
	rule->cfa_add = (int8_t)s.add;
	if (s.load)
		rule->flags |= CFI_CFA_LOAD;
	return CFI_RULE;
}

static u8 rule_place(const struct machine *m, struct cfi_rule *rule, u32 slot)
{
	const struct place *place = &m->state.places[slot];
	struct simple s = { .offset = place->offset };

	if (place->how == HOW_SAME || place->how == HOW_UNDEFINED)
		return CFI_RULE;
	if (place->how == HOW_OTHER)
		return CFI_REMOTE;
	if (place->how == HOW_EXPRESSION) {
		if (!simple_read(place->expression, &s) || s.load || s.reg >= UNWIND_REGS ||
		    (rule->based && rule->base_reg != s.reg))
			return CFI_REMOTE;
		rule->based |= (u16)(1u << slot);
		rule->base_reg = (u8)s.reg;
	}
	if (!fits(s.offset))
		return CFI_BAD;
	rule->saved |= (u16)(1u << slot);
	rule->at[slot] = (s32)s.offset;
	return CFI_RULE;
}

static void rule_make(const struct machine *m, struct cfi_rule *rule)
{
	const struct place *back = &m->state.places[slot_of(UNWIND_RETURN)];

	if (back->how == HOW_UNDEFINED) {
		rule->kind = CFI_OUTERMOST;
		return;
	}
	rule->flags = (m->d->signal ? CFI_SIGNAL : 0) | (m->state.is_signed ? CFI_SIGNED : 0);
	rule->kind = rule_cfa(m, rule);
	for (u32 slot = 0; slot < UNWIND_SLOTS && rule->kind == CFI_RULE; slot++)
		rule->kind = rule_place(m, rule, slot);
	/* A return address that a call pushed is nowhere but in memory. */
	if (rule->kind == CFI_RULE && UNWIND_CALL_PUSHES > 0 && back->how == HOW_SAME)
		rule->kind = CFI_BAD;
}

/* Whether an address is in or just behind a trampoline, or, as a caller's, 1 in front of it. */
static bool signal_code(const struct cfi *cfi, u64 address)
{
	const size_t n = sizeof(UNWIND_SIGNAL_CODE) - 1;
	u64 start = (address + 3) & ~UINT64_C(3);

	for (u64 back = 0; n && back <= n; back += 4) {
		struct cfi_bytes code = cfi_at(cfi, start - back);

		if (!code.bad && (size_t)(code.end - code.at) >= n && !memcmp(code.at, UNWIND_SIGNAL_CODE, n))
			return true;
	}
	return false;
}

/* The frame that the kernel made for a handler, where its trampoline does not tell all. */
static bool rule_signal(const struct cfi *cfi, u64 address, struct cfi_rule *rule)
{
	if (!signal_code(cfi, address))
		return false;
	*rule = (struct cfi_rule){
		.kind = CFI_RULE, .flags = CFI_CFA_LOAD | CFI_SIGNAL, .cfa_reg = UNWIND_SP, .base_reg = UNWIND_SP,
		.saved = (1u << UNWIND_SLOTS) - 1, .based = (1u << UNWIND_SLOTS) - 1, .cfa_offset = UNWIND_SIGNAL_SP,
	};
	for (u32 slot = 0; slot < UNWIND_SLOTS; slot++)
		rule->at[slot] = UNWIND_SIGNAL_REG(slots[slot]);
	return true;
}

void cfi_find(struct cfi *cfi, u64 address, size_t *budget, struct cfi_rule *rule)
{
	struct cfi_description d;
	struct machine m;
	size_t size;
	int found;

	*rule = (struct cfi_rule){ .kind = CFI_NONE };
	if (rule_signal(cfi, address, rule))
		return;
	found = cfi_search(cfi, address, &d);
	if (found <= 0) {
		if (found)
			rule->kind = CFI_BAD;
		else if (cfi->has_entry && address - cfi->entry < ENTRY_SIZE)
			rule->kind = CFI_OUTERMOST;
		return;
	}
	rule->kind = CFI_BAD;
	size = (size_t)(d.initial.end - d.initial.at) + (size_t)(d.program.end - d.program.at);
	if (size > *budget)
		*budget = 0;
	if (!*budget || d.return_column != UNWIND_RETURN)
		return;
	*budget -= size;
	m.d = &d;
	m.address = address;
	m.location = d.start;
	m.nremembered = 0;
	m.bad = false;
	memset(&m.state, 0, sizeof(m.state));
	m.initial = m.state;
	execute(&m, d.initial);
	m.initial = m.state;
	execute(&m, d.program);
	if (!m.bad)
		rule_make(&m, rule);
}
