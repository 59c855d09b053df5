/* SPDX-License-Identifier: MIT */
/*
 * Regions that no marker in the source begins, as they cross between the parts: which calls between
 * objects are to be bracketed, and for each such region where it comes from. Conventions as in
 * wire.h.
 */
#ifndef SPARK_COMMON_WIRE_CALLS_H
#define SPARK_COMMON_WIRE_CALLS_H

#include "wire.h"

#define WIRE_CALLS_MOST 4096       /* functions that can be bracketed in one process image */
#define WIRE_CALL_WORDS 16         /* of arguments on the stack that are handed on, if nothing else is known */
#define WIRE_CALL_WORDS_MOST 128

enum wire_calls_flags {
	WIRE_CALLS_DLSYM = 1 << 0,   /* what dlsym(3) returns is bracketed too */
};

enum wire_call_rule_flags {
	WIRE_CALL_EXCEPT = 1 << 0,   /* what it matches is left alone, whatever rules before it say */
};

/* Patterns with "*" and "?"; the last rule that matches decides. */
struct wire_call_rule {
	u32 library;                 /* offset of the pattern of a file name, see call_library_matches(); 0: any */
	u32 symbol;                  /* offset of the pattern of a name without its version */
	u16 flags;                   /* enum wire_call_rule_flags */
	u16 words;                   /* of arguments on the stack; an even number */
};

/* In the segment (wire_header.calls), written by sparkctl. Texts, each with its end, follow the rules. */
struct wire_calls {
	u32 rules;
	u32 flags;                   /* enum wire_calls_flags */
	u32 size;                    /* of it all */
	u32 released;                /* sparkctl sets it when nobody reads any more: slots get their functions back */
	struct wire_call_rule rule[];
};

enum wire_origin_kind {
	WIRE_ORIGIN_CALL = 1,        /* of a call between two objects */
	WIRE_ORIGIN_INSTRUMENTED = 2, /* of a function compiled with -finstrument-functions */
	WIRE_ORIGIN_PROBED = 3,      /* of a function with probes of the kernel: sparkctl's own, never in a segment */
};

/* One for each function, calling object and kind; listed at wire_header.origins, written by the agent, then kept. */
struct wire_origin {
	u32 next;
	u32 name;                    /* of the region */
	u32 library;                 /* name record: path of the object that has the function; 0: not known */
	u32 caller;                  /* name record: path of the object that calls it; 0: none */
	u32 kind;                    /* enum wire_origin_kind */
	u32 slots;                   /* that lead through it, of the caller */
	u32 reserved[2];
};

/*
 * The name of a region of kind WIRE_ORIGIN_INSTRUMENTED: this mark, the function's address in its object's
 * file in hexadecimal digits, ":", the digits of the object's build id, if it has one, ":" and the object's
 * path. sparkctl puts the function's name in its place.
 */
#define WIRE_FUNCTION_MARK '\1'
#define WIRE_FUNCTIONS_MOST (1u << 18) /* that can be chosen in one process image */

enum wire_functions_flags {
	WIRE_FUNCTIONS_OFF = 1 << 0,    /* no regions of instrumented functions */
	WIRE_FUNCTIONS_CHOSEN = 1 << 1, /* of those alone that are listed */
};

/* In the segment (wire_header.functions), written by sparkctl. */
struct wire_functions {
	u32 flags;                   /* enum wire_functions_flags */
	u32 depth;                   /* functions within so many regions have none; 0: no limit */
	u32 n;
	u32 size;                    /* of it all */
	u64 function[];              /* addresses in the process, ascending */
};

_Static_assert(sizeof(struct wire_functions) == 16, "wire");
_Static_assert(sizeof(struct wire_call_rule) == 12, "wire");
_Static_assert(sizeof(struct wire_calls) == 16, "wire");
_Static_assert(sizeof(struct wire_origin) == 32, "wire");

/* A pattern with "*" (any bytes) and "?" (one byte). No allocation, no locale, time |pattern| x |text| at most. */
bool call_pattern_matches(const char *pattern, const char *text);
/*
 * The pattern is of the file's name, or of that up to ".so": libz, libz*, libz.so.1 and libz.so.1.2.13
 * all match /usr/lib/libz.so.1.2.13.
 */
bool call_library_matches(const char *pattern, const char *path);
/* Why a function must not be bracketed, as the end of a sentence; NULL: it may be. */
const char *call_refusal(const char *symbol);

#endif
