/* SPDX-License-Identifier: MIT */
/* See machine.h. What each note says of is beyond what machines at rest have. */
#include "cli/analyze/machine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TICKS_LEAST 100              /* of all CPUs: fewer tell no shares */
#define STEAL_TOLD 0.01
#define OTHERS_TOLD 0.05
#define LOAD_TOLD 0.5                /* for each CPU */

static void note_add(struct machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note_add(struct machine *m, const char *format, ...)
{
	va_list list;

	if (m->nnotes >= MACHINE_NOTES)
		return;
	va_start(list, format);
	vsnprintf(m->notes[m->nnotes++], MACHINE_NOTE, format, list);
	va_end(list);
}

/* Counters of a CPU that went away in between go back. */
static u64 since(u64 begin, u64 end)
{
	return end > begin ? end - begin : 0;
}

static void shares_find(struct machine *m, const struct machine_look *begin, const struct machine_look *end)
{
	double all = (double)since(begin->all, end->all), own;

	m->steal = m->others = -1;
	if (!begin->cpus || !end->cpus || all < TICKS_LEAST || !end->tick_ns)
		return;
	own = (double)since(begin->own_ns, end->own_ns) / (double)end->tick_ns;
	m->steal = (double)since(begin->steal, end->steal) / all;
	m->others = ((double)since(begin->busy, end->busy) - own) / all;
	m->others = m->others < 0 ? 0 : m->others;
}

void machine_judge(struct machine *m, const struct machine_look *begin, const struct machine_look *end)
{
	*m = (struct machine){ .begin = *begin, .heeds_heat = begin->heeds_heat && end->heeds_heat,
			       .throttled = since(begin->throttled, end->throttled) };
	shares_find(m, begin, end);
	if (m->others > OTHERS_TOLD)
		note_add(m, "other processes, or those of the command that nobody waited for, took %.0f %% of the CPUs' "
			 "time meanwhile", m->others * 100);
	else if (m->others < 0 && begin->cpus && begin->load > LOAD_TOLD * begin->cpus)
		note_add(m, "the load was %.2f on %" PRIu32 " CPU%s when the runs began: others were at work",
			 begin->load, begin->cpus, begin->cpus == 1 ? "" : "s");
	if (m->steal > STEAL_TOLD)
		note_add(m, "%.1f %% of the CPUs' time went to other virtual machines (steal)", m->steal * 100);
	if (m->heeds_heat && m->throttled)
		note_add(m, "CPUs were slowed %" PRIu64 " time%s for heat", m->throttled,
			 m->throttled == 1 ? "" : "s");
	if (begin->governor[0] && strcmp(begin->governor, "performance") != 0)
		note_add(m, "the frequency of the CPUs follows their load (governor %s): times depend on what ran "
			 "before",
			 begin->governor);
}

static void piece(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void piece(char *text, size_t size, const char *format, ...)
{
	size_t len = strlen(text);
	va_list list;

	if (len + 2 < size && len)
		len += (size_t)snprintf(text + len, size - len, ", ");
	va_start(list, format);
	vsnprintf(text + len, size - len, format, list);
	va_end(list);
}

static void piece_switch(char *text, size_t size, const char *name, enum machine_switch is)
{
	if (is != MACHINE_UNKNOWN)
		piece(text, size, "%s %s", name, is == MACHINE_ON ? "on" : "off");
}

void machine_text(const struct machine *m, char *text, size_t size)
{
	const struct machine_look *look = &m->begin;

	text[0] = '\0';
	if (look->cpus)
		piece(text, size, "%" PRIu32 " CPU%s", look->cpus, look->cpus == 1 ? "" : "s");
	if (look->governor[0])
		piece(text, size, "governor %s", look->governor);
	piece_switch(text, size, "turbo", look->turbo);
	piece_switch(text, size, "SMT", look->smt);
	piece_switch(text, size, "ASLR", look->aslr);
	if (look->load >= 0)
		piece(text, size, "load %.2f", look->load);
	if (m->steal > 0)
		piece(text, size, "steal %.2g %%", m->steal * 100);
}
