/* SPDX-License-Identifier: MIT */
/*
 * What the files of cli/names share. The functions that make events from a text return how many
 * they appended, 0 when the text is none of theirs, or -1 after one sentence.
 */
#ifndef CLI_NAMES_INTERNAL_H
#define CLI_NAMES_INTERNAL_H

#include "cli/names/names.h"

#define NAMES_EVENTS_MOST 4096
#define NAMES_TEXT_MOST 4096         /* bytes of one event's text */

/* ---- list.c */

/* A new event at the end, counting what perf counts by default; NULL after a message. */
struct event *event_add(struct event_list *list, u32 type, u64 config);
/* A copy that the event owns; the former text is freed. 0, or -1 after a message. */
int event_set(char **to, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Takes back all from the index on. */
void event_list_cut(struct event_list *list, size_t from);

/* ---- modifier.c */

/* Whether all of it could be modifiers; "" is not. */
bool modifiers_valid(const char *text);
/* Adds them to those that the event has. 0, or -1 after a message. */
int modifiers_apply(struct event *event, const char *text);

/* ---- generic.c: names that mean the same everywhere */

int generic_add(struct names_context *context, struct event_list *list, const char *word);
/*
 * What the word, or rHEX, is on a PMU of the CPU: sets type and config. 1; 0: it is neither; -1
 * after a message.
 */
int generic_encode(struct names_context *context, const struct names_pmu *pmu, struct event *event,
	const char *word);
/* rHEX. */
int raw_add(struct names_context *context, struct event_list *list, const char *word);
bool raw_parse(const char *word, u64 *config);

/* ---- pmu.c: sysfs */

/* All PMUs, by name. */
const struct names_pmu *pmu_table(struct names_context *context, size_t *n);
/* The next PMU from *at on that a name means: itself, a pattern, or all but a number at its end. */
const struct names_pmu *pmu_match(struct names_context *context, const char *name, size_t *at);
/* Number of PMUs with kinds of cores of their own: above 1 the machine is hybrid. */
size_t pmu_count_cores(struct names_context *context);
/* Event of a PMU: sets what is true of all its events. NULL after a message. */
struct event *pmu_event_add(const struct names_pmu *pmu, struct event_list *list);
/* The alias of that name. unit is at most 31 bytes. */
struct pmu_alias {
	char terms[1024];
	char unit[32];
	double scale;
};
bool pmu_alias_read(struct names_context *context, const struct names_pmu *pmu, const char *name,
	struct pmu_alias *alias);
/* 1: found; 0: there is none; -1: its file makes no sense, after a message. */
int pmu_format_read(struct names_context *context, const struct names_pmu *pmu, const char *name,
	struct names_format *format);
/* What follows from the codes that an event of a PMU has in the end. */
void pmu_settle_event(struct names_context *context, struct event *event);
/* Entries of a directory below the root, sorted; what begins with a dot is left out. */
int pmu_scan(const struct names_context *context, const char *path,
	int (*each)(void *data, const char *name), void *data);

/* ---- probe.c */

/* What the kernel's PMU for probes says, for the list. 0, or -1 after a message. */
int probe_pmu(struct names_context *context, struct probe_list *list);
void probe_free(struct probe *probe);

/* ---- term.c */

/* Events of all PMUs that the name means, from "term=value,term". */
int terms_add(struct names_context *context, struct event_list *list, const char *pmu,
	const char *terms);
/* Applies terms to an event; pmu NULL: those that need no PMU. 0, or -1 after a message. */
int terms_apply(struct names_context *context, const struct names_pmu *pmu, struct event *event,
	const char *terms);
/* The event of that name on each PMU that has it. */
int alias_add(struct names_context *context, struct event_list *list, const char *word);
/* Decimal, or hexadecimal after 0x; all of the text. */
bool number_parse(const char *text, u64 *value);

/* ---- tracepoint.c, breakpoint.c, uprobe.c, pfm.c */

int tracepoint_add(struct names_context *context, struct event_list *list, const char *system,
	const char *name);
/* Both set *rest to what is left for modifiers, "" or after a colon. */
int breakpoint_add(struct event_list *list, const char *text, const char **rest);
int uprobe_add(struct names_context *context, struct event_list *list, char *text, const char **rest);
/* Cuts the text at the next free colon, drops backslashes. Returns what follows; NULL: nothing. */
char *uprobe_cut(char *text);
/* A name of libpfm with its attributes; modifiers of perf that libpfm does not know may follow. */
int pfm_add(struct names_context *context, struct event_list *list, const char *text);

/* ---- suggest.c: near matches */

struct suggestion {
	const char *word;
	struct {
		char text[96];
		unsigned int far;
	} near[3];                   /* the nearest first; "" where there are fewer */
};

void suggestion_init(struct suggestion *suggestion, const char *word);
void suggestion_offer(struct suggestion *suggestion, const char *candidate);
/* "; did you mean a, b or c?", or "". Valid as long as size. */
const char *suggestion_text(const struct suggestion *suggestion, char *text, size_t size);
/* Says that there is no such event. */
int names_unknown(struct names_context *context, const char *word);

#endif
