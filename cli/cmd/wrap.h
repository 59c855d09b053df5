/* SPDX-License-Identifier: MIT */
/* The option --wrap: which calls between objects are to be bracketed, as told by the user. */
#ifndef CLI_CMD_WRAP_H
#define CLI_CMD_WRAP_H

#include "cli/opt.h"
#include "cli/symbols/closure.h"
#include "common/wire_calls.h"

/* ---- sets: "@io" */

struct wrap_set {
	const char *name, *meaning;
};

struct wrap_set_call {
	const char *set, *symbol;    /* a pattern */
};

const struct wrap_set *wrap_sets(size_t *n);
const struct wrap_set_call *wrap_set_calls(size_t *n);

/* ---- entries and the rules made of them */

struct wrap_rule {
	char *library;               /* a pattern; NULL: any */
	char *symbol;                /* a pattern */
	size_t entry;                /* that it comes from */
	u32 words;                   /* of arguments on the stack */
	bool except;
};

struct wrap {
	struct opt_list lists;       /* values of the option, as they were given */
	bool dlsym;
	bool runs;                   /* it may have loaded more than its file tells: nothing is known to match no call */
	char **entries;              /* as they were given */
	size_t nentries;
	struct wrap_rule *rules;
	size_t n, room;
	struct wire_calls *calls;    /* the rules as the agent takes them; NULL: nothing is to be bracketed */
};

/* Rows for a struct with a member wrap. */
#define WRAP_ROWS(type) \
	{ "wrap", 0, OPT_EACH, offsetof(type, wrap.lists), "LIST", NULL, \
	  "make a region of each call from one object to another of these functions: symbol, library:symbol, with * and ?, " \
	  "sets as @io, exceptions as -symbol", NULL, false }, \
	{ "wrap-dlsym", 0, OPT_FLAG, offsetof(type, wrap.dlsym), NULL, NULL, \
	  "with --wrap, make regions of functions that the program looks up by dlsym(3), too", NULL, false }

/* Makes the rules. 0, or -1 after a message. */
int wrap_parse(struct wrap *wrap);
/*
 * Looks what the entries mean for a command: warns of those that match nothing, and adds rules for functions with many
 * arguments. 0, or -1 after a message: one that is named cannot be bracketed.
 */
int wrap_look(struct wrap *wrap, const char *command);
/* Fills calls. 0, or -1 after a message. */
int wrap_encode(struct wrap *wrap);
void wrap_free(struct wrap *wrap);

/* Whether a name is a pattern. */
bool wrap_is_glob(const char *pattern);
/* Adds a rule of an entry; it copies the texts. 0, or -1 after a message. */
int wrap_add(struct wrap *wrap, const struct wrap_rule *rule);
/* Whether a rule means a function of a library at this path. */
bool wrap_rule_matches(const struct wrap_rule *rule, const char *symbol, const char *path);
/* Why a call cannot be bracketed, as the end of a sentence; NULL: it can. */
const char *wrap_refusal(const struct closure_call *call);

#endif
