/* SPDX-License-Identifier: MIT */
/*
 * spark.h - markers: name the parts of a program that sparkctl(1) is to measure.
 *
 *	#include <spark/spark.h>
 *
 *	spark_region_begin("parse");
 *	... work ...
 *	spark_region_end("parse");
 *
 *	$ sparkctl run -- ./program
 *
 * This file is all there is: no library to link, nothing to initialize. Without an agent a marker
 * costs one load and one branch that is not taken (about 0.1 ns); when sparkctl has put its agent
 * into the process, the same branch leads to the agent. C89 to C23, C++98 to C++20, gcc and clang.
 *
 * All that is said here holds for every marker:
 *
 *  - It returns nothing, cannot fail, keeps errno, and takes no lock.
 *  - It may be called from any thread, from signal handlers, before main and during exit. Regions
 *    belong to the thread that began them.
 *  - A NAME is a string ended by a zero byte; any bytes are legal; the report escapes what cannot
 *    be printed and cuts a name at 1 KiB. Names are compared by content: the same name in two
 *    files, objects or threads is the same region. The agent copies a name where it must keep it.
 *  - Misuse never harms the program. An end without its begin, a region left open by longjmp or
 *    ended on another thread, and a null name are ignored or repaired, and counted: the report
 *    prints them as diagnoses.
 *  - Macros may skip the evaluation of their arguments where nobody measures: an argument should
 *    have no side effect that the program needs.
 *
 * Markers work on 64-bit ELF Linux, x86-64 and arm64, and compile to nothing elsewhere or where
 * SPARK_DISABLE is defined before the inclusion. Names that end in an underscore are internal.
 */
#ifndef SPARK_SPARK_H
#define SPARK_SPARK_H

/*
 * Version of the interface between markers and agent. It is compiled into the names spark_slot_v1
 * and spark_agent_v1, so that objects of two versions can live in one process.
 */
#define SPARK_ABI_VERSION 1

#if !defined(SPARK_DISABLE) && defined(__GNUC__) && defined(__ELF__) && defined(__linux__) && \
	defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))
#define SPARK_ENABLED 1
#else
#define SPARK_ENABLED 0
#endif

#if defined(__GNUC__)
#define SPARK_ATTR_(list) __attribute__(list)
#else
#define SPARK_ATTR_(list)
#endif

/* In C++ inline functions, not static ones: other inline functions and modules may use them. */
#if defined(__cplusplus)
#define SPARK_LINKAGE_ inline SPARK_ATTR_((visibility("hidden")))
#define SPARK_COLD_LINKAGE_ SPARK_LINKAGE_
#elif defined(__GNUC__)
#define SPARK_LINKAGE_ static __inline__
#define SPARK_COLD_LINKAGE_ static SPARK_ATTR_((unused))
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L
#define SPARK_LINKAGE_ static inline
#else
#define SPARK_LINKAGE_ static
#endif

#if defined(__cplusplus) && __cplusplus >= 201103L
#define SPARK_NULL_ nullptr
#define SPARK_NOTHROW_ noexcept
#elif defined(__cplusplus)
#define SPARK_NULL_ 0
#define SPARK_NOTHROW_ throw()
#else
#define SPARK_NULL_ 0
#define SPARK_NOTHROW_
#endif

#define SPARK_INLINE_ SPARK_LINKAGE_ SPARK_ATTR_((nothrow, no_instrument_function))
#define SPARK_COLD_ SPARK_COLD_LINKAGE_ \
	SPARK_ATTR_((noinline, cold, nothrow, no_instrument_function))

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Handle of a region, for hot loops: the agent finds the region by `id`, without looking at the
 * name. Define one with static storage, and share it between threads and files as you like:
 *
 *	static struct spark_region solve = SPARK_REGION("solve");
 *
 * The name must stay unchanged. `id` belongs to the agent; 0 at first.
 */
struct spark_region {
	const char *name;
	unsigned long id;
};

#define SPARK_REGION(name) { name, 0 }

/*
 * What an agent offers. Programs have no use for it: markers call through it. An agent exports
 * the variable spark_agent_v1; members are only ever added at the end, and `size` tells.
 * All functions keep to the rules above.
 */
struct spark_agent_v1 {
	unsigned size;		/* bytes of this structure in the agent */
	unsigned abi;		/* SPARK_ABI_VERSION of the agent */
	void (*region_begin)(struct spark_region *region) SPARK_NOTHROW_;
	void (*region_end)(struct spark_region *region) SPARK_NOTHROW_;
	/* `site`: cache word of a call site, 0 at first. `name`: immutable; should another */
	/* address come with the same word, the word does not speak for it. */
	void (*site_begin)(unsigned long *site, const char *name) SPARK_NOTHROW_;
	void (*site_end)(unsigned long *site, const char *name) SPARK_NOTHROW_;
	void (*name_begin)(const char *name) SPARK_NOTHROW_;
	void (*name_end)(const char *name) SPARK_NOTHROW_;
	void (*region_units)(const char *name, unsigned long n, const char *unit) SPARK_NOTHROW_;
	void (*metric)(const char *name, double value) SPARK_NOTHROW_;
	void (*frame)(const char *name) SPARK_NOTHROW_;
	void (*window_begin)(const char *name) SPARK_NOTHROW_;
	void (*window_end)(const char *name) SPARK_NOTHROW_;
	void (*window_part)(const char *name, unsigned part) SPARK_NOTHROW_;
};

#if SPARK_ENABLED

/*
 * How an agent finds the markers.
 *
 * Every link unit (executable or shared object) holds one word, spark_slot_v1: weak, so that the
 * copies of all its files merge, and hidden, so that it stays private to the unit. It starts as
 * the address of spark_agent_v1, a weak undefined symbol: 0 where no agent is loaded. An object
 * that is loaded after the agent thus comes alive by its own relocation; in one that was there
 * before, the agent stores the address. It finds the word by an ELF note (System V gABI, "Note
 * Section") of owner "Spark", type 1, whose 8-byte content is the distance from itself to the
 * word: the program headers lead to it, also in a stripped file.
 *
 * The address fills the low 48 bits; the high 16 are reserved for a counter of other tracers'
 * probes. So the branch tests the whole word and the cold path masks it. The section's name is the
 * one in which those tracers look for their counters.
 */
extern const struct spark_agent_v1 spark_agent_v1
	SPARK_ATTR_((weak, visibility("default")));
extern unsigned long spark_slot_v1 SPARK_ATTR_((visibility("hidden")));

#ifdef __cplusplus
#define SPARK_AGENT_ADDRESS_ reinterpret_cast<unsigned long>(&spark_agent_v1)
#define SPARK_AGENT_POINTER_(word) reinterpret_cast<const struct spark_agent_v1 *>(word)
#else
#define SPARK_AGENT_ADDRESS_ (unsigned long)&spark_agent_v1
#define SPARK_AGENT_POINTER_(word) (const struct spark_agent_v1 *)(word)
#endif

SPARK_ATTR_((weak, used, visibility("hidden"), section(".probes")))
unsigned long spark_slot_v1 = SPARK_AGENT_ADDRESS_;

#define SPARK_SLOT_MASK_ 0xffffffffffffUL

/*
 * The note: one for each file that calls a marker, all of a unit leading to the same word. It is in
 * no section group, although that would keep one a unit: linkers drop notes in groups under
 * --gc-sections, and two libraries whose hidden symbols `objcopy --localize-hidden` made local
 * would lose one of theirs. The condition is for several markers in one assembly file.
 */
#define SPARK_NOTE_ \
	".ifndef .Lspark_note_v1\n" \
	".pushsection .note.spark,\"a\",\"note\"\n" \
	".p2align 2\n" \
	".Lspark_note_v1:\n" \
	".4byte 6, 8, 1\n" \
	".asciz \"Spark\"\n" \
	".2byte 0\n" \
	".8byte spark_slot_v1 - .\n" \
	".popsection\n" \
	".endif\n"

#define SPARK_SLOT_() __atomic_load_n(&spark_slot_v1, __ATOMIC_RELAXED)
#define SPARK_LIVE_() __builtin_expect(SPARK_SLOT_() != 0, 0)

/* The agent, or null. Macros, since compilers don't like to inline so long an assembly text. */
#define SPARK_AGENT_() SPARK_AGENT_POINTER_(SPARK_SLOT_() & SPARK_SLOT_MASK_)
#define SPARK_NOTE_HERE_() __asm__ __volatile__(SPARK_NOTE_)
/* An agent that is older than this file may end before the member. */
#define SPARK_AGENT_HAS_(agent, member) \
	((agent)->size >= __builtin_offsetof(struct spark_agent_v1, member) + sizeof((agent)->member))

/* Defines a marker as an inline test and a cold function that calls the agent's `member`. */
#define SPARK_MARKER_IF_(condition, marker, member, params, args) \
	SPARK_COLD_ void spark_call_##member##_ params \
	{ \
		const struct spark_agent_v1 *agent = SPARK_AGENT_(); \
		SPARK_NOTE_HERE_(); \
		if (condition) \
			agent->member args; \
	} \
	SPARK_INLINE_ void marker params \
	{ \
		if (SPARK_LIVE_()) \
			spark_call_##member##_ args; \
	}
#define SPARK_MARKER_(marker, member, params, args) SPARK_MARKER_IF_(agent, marker, member, params, args)
#define SPARK_MARKER_LATER_(marker, member, params, args) \
	SPARK_MARKER_IF_(agent && SPARK_AGENT_HAS_(agent, member), marker, member, params, args)

#else /* !SPARK_ENABLED */

#define SPARK_MARKER_LATER_ SPARK_MARKER_
#define SPARK_MARKER_(marker, member, params, args) \
	SPARK_INLINE_ void marker params \
	{ \
		void (*none) params = SPARK_NULL_; \
		if (none) \
			none args; \
	}

#endif /* SPARK_ENABLED */

/*
 * spark_begin, spark_end - enter and leave a region, handle form; the quickest.
 *
 * region: a handle made with SPARK_REGION. Regions nest, and may recurse (to a depth of 255); the
 * report shows the path. An end should name the innermost open region of its thread. Where others
 * are open inside, they are repaired: closed too, or left to end later; where none of the name is
 * open, it is ignored. Both are counted diagnoses.
 */
SPARK_MARKER_(spark_begin, region_begin, (struct spark_region *region), (region))
SPARK_MARKER_(spark_end, region_end, (struct spark_region *region), (region))

/*
 * spark_region_begin, spark_region_end - the same by name.
 *
 * name: a string literal (quick: each call site caches what the agent knows of it), or any other
 * string (legal everywhere, about twice the time, since the agent must read the name). Both are
 * also macros, see below; the functions are what &spark_region_begin gives.
 */
SPARK_MARKER_(spark_region_begin, name_begin, (const char *name), (name))
SPARK_MARKER_(spark_region_end, name_end, (const char *name), (name))

/*
 * spark_region_units - work done in a region, for rates: bytes, rows, requests.
 *
 * name: the region, open on this thread or ended within its innermost open one (else a counted
 * diagnosis). n: amount done since the last call; the report adds up. unit: what n counts, as it
 * is to be printed: "B", "rows"; the first unit given for a region stays, another is a diagnosis.
 */
SPARK_MARKER_(spark_region_units, region_units,
	      (const char *name, unsigned long n, const char *unit), (name, n, unit))

/*
 * spark_metric - a value of the program's own, as a column of the innermost open region.
 *
 * name: the metric, "queue-depth". value: in whatever unit the program likes; NaN is ignored.
 */
SPARK_MARKER_(spark_metric, metric, (const char *name, double value), (name, value))

/*
 * spark_frame - a new repetition of a region that is never left, such as an event loop's.
 *
 * name: the region. Ends it, if it is open on this thread, and begins it again at the same moment.
 */
SPARK_MARKER_(spark_frame, frame, (const char *name), (name))

/*
 * spark_window_begin, spark_window_end - the edges of a phase of the whole process.
 *
 * name: the phase, "load". Windows have a table of their own; they may overlap and may begin and
 * end on different threads. An edge reads system-wide figures and what markers have added up, so
 * that regions in the window are known, and takes some 30 us: windows are for phases of
 * milliseconds and more.
 */
SPARK_MARKER_(spark_window_begin, window_begin, (const char *name), (name))
SPARK_MARKER_(spark_window_end, window_end, (const char *name), (name))

/*
 * spark_window_part - what follows is another part of the newest open window of the name.
 *
 * name: the window. part: SPARK_WARMUP, SPARK_MEASURED or SPARK_COOLDOWN, in this order, each once;
 * the first and the last may be left out. Of a window with parts all figures are of the measured
 * one. A part out of its order, or of no open window, is a counted diagnosis.
 *
 *	spark_window_begin("load");
 *	spark_window_part("load", SPARK_WARMUP);
 *	... the first thousand ...
 *	spark_window_part("load", SPARK_MEASURED);
 */
enum spark_part { SPARK_WARMUP = 1, SPARK_MEASURED = 2, SPARK_COOLDOWN = 3 };

SPARK_MARKER_LATER_(spark_window_part, window_part, (const char *name, unsigned part), (name, part))

#if SPARK_ENABLED

/* Markers with a site: null for names that are no literals. */
SPARK_COLD_ void spark_call_site_begin_(unsigned long *site, const char *name)
{
	const struct spark_agent_v1 *agent = SPARK_AGENT_();

	SPARK_NOTE_HERE_();
	if (agent && site)
		agent->site_begin(site, name);
	else if (agent)
		agent->name_begin(name);
}

SPARK_COLD_ void spark_call_site_end_(unsigned long *site, const char *name)
{
	const struct spark_agent_v1 *agent = SPARK_AGENT_();

	SPARK_NOTE_HERE_();
	if (agent && site)
		agent->site_end(site, name);
	else if (agent)
		agent->name_end(name);
}

/* An open scope. `name` is null where no agent saw the begin: then none shall see an end. */
struct spark_scope_ {
	unsigned long *site;
	const char *name;
};

SPARK_INLINE_ void spark_scope_end_(struct spark_scope_ *scope)
{
	if (__builtin_expect(scope->name != SPARK_NULL_, 0))
		spark_call_site_end_(scope->site, scope->name);
}

#endif

#ifdef __cplusplus
}
#endif

#if SPARK_ENABLED

/*
 * SPARK_SITE_ declares the cache word of a call site and SPARK_SITE_WORD_ is its address.
 *
 * In C++ the word sits in a local class, which can be kept private to the unit: a plain static
 * variable of an inline function is exported, with gcc as a unique symbol, and an object with
 * such a symbol can't be unloaded.
 * In C since C99 gcc warns of static variables in functions that are inline and not static; a
 * nested function hides it.
 */
#if defined(__cplusplus)
#if defined(__clang__)
#define SPARK_PRIVATE_ SPARK_ATTR_((no_instrument_function, internal_linkage))
#else
#define SPARK_PRIVATE_ SPARK_ATTR_((no_instrument_function))
#endif
#define SPARK_SITE_ \
	struct SPARK_ATTR_((visibility("hidden"))) spark_site_ { \
		SPARK_PRIVATE_ static unsigned long *word() \
		{ \
			static unsigned long cache; \
			return &cache; \
		} \
	};
#define SPARK_SITE_WORD_ spark_site_::word()
#elif defined(__GNUC_STDC_INLINE__) && !defined(__clang__) && !defined(__EDG__)
#define SPARK_SITE_ \
	SPARK_ATTR_((no_instrument_function)) unsigned long *spark_site_(void) \
	{ \
		static unsigned long cache; \
		return &cache; \
	}
#define SPARK_SITE_WORD_ spark_site_()
#else
#define SPARK_SITE_ static unsigned long spark_site_;
#define SPARK_SITE_WORD_ &spark_site_
#endif

/*
 * The same for static functions (the markers) used in such inline functions of C: clang obeys the
 * pragmas, gcc only the origin of the text. From here on there are macros only.
 */
#if defined(__clang__) && !defined(__cplusplus)
#define SPARK_QUIET_(code) \
	_Pragma("clang diagnostic push") \
	_Pragma("clang diagnostic ignored \"-Wstatic-in-inline\"") \
	_Pragma("clang diagnostic ignored \"-Wstatic-local-in-inline\"") \
	code \
	_Pragma("clang diagnostic pop")
#else
#define SPARK_QUIET_(code) code
#endif

#if !defined(__cplusplus) && !defined(__clang__) && defined(__GNUC_STDC_INLINE__)
#pragma GCC system_header
#endif

#if !defined(__cplusplus) && defined(__GNUC_STDC_INLINE__)
#define spark_begin(region) SPARK_QUIET_((spark_begin)(region))
#define spark_end(region) SPARK_QUIET_((spark_end)(region))
#define spark_region_units(name, n, unit) SPARK_QUIET_((spark_region_units)(name, n, unit))
#define spark_metric(name, value) SPARK_QUIET_((spark_metric)(name, value))
#define spark_frame(name) SPARK_QUIET_((spark_frame)(name))
#define spark_window_begin(name) SPARK_QUIET_((spark_window_begin)(name))
#define spark_window_end(name) SPARK_QUIET_((spark_window_end)(name))
#define spark_window_part(name, part) SPARK_QUIET_((spark_window_part)(name, part))
#endif

/*
 * The name forms as macros. gcc and clang hold a pointer for constant only where the argument
 * itself is a string literal or a constant initialized with one, never for arrays, which may
 * change, nor for a parameter that inlining made constant.
 */
#define SPARK_SITE_NAMED_(name) (__builtin_constant_p(name) ? SPARK_SITE_WORD_ : SPARK_NULL_)
#define SPARK_AT_SITE_(call, name) \
	SPARK_QUIET_(__extension__ ({ \
		SPARK_SITE_ \
		if (SPARK_LIVE_()) \
			call(SPARK_SITE_NAMED_(name), (name)); \
	}))

#define spark_region_begin(name) SPARK_AT_SITE_(spark_call_site_begin_, name)
#define spark_region_end(name) SPARK_AT_SITE_(spark_call_site_end_, name)

#define SPARK_SCOPE_OPEN_(text) \
	__extension__ ({ \
		SPARK_SITE_ \
		struct spark_scope_ spark_open_ = { SPARK_NULL_, SPARK_NULL_ }; \
		if (SPARK_LIVE_() && SPARK_AGENT_()) { \
			spark_open_.site = SPARK_SITE_NAMED_(text); \
			spark_open_.name = (text); \
			spark_call_site_begin_(spark_open_.site, spark_open_.name); \
		} \
		spark_open_; \
	})

#define SPARK_PASTE_(a, b) a##b
#define SPARK_SCOPE_NAME_(n) SPARK_PASTE_(spark_scope_, n)

#ifdef __cplusplus
class SPARK_ATTR_((visibility("hidden"))) spark_scope_guard_ {
public:
	SPARK_ATTR_((no_instrument_function))
	explicit spark_scope_guard_(const spark_scope_ &open) : scope(open) {}
	SPARK_ATTR_((no_instrument_function)) ~spark_scope_guard_() { spark_scope_end_(&scope); }

private:
	spark_scope_guard_(const spark_scope_guard_ &);
	spark_scope_guard_ &operator=(const spark_scope_guard_ &);
	spark_scope_ scope;
};
#define SPARK_SCOPE_AS_(variable, name) \
	SPARK_ATTR_((unused)) spark_scope_guard_ variable(SPARK_SCOPE_OPEN_(name))
#else
#define SPARK_SCOPE_AS_(variable, name) \
	SPARK_QUIET_(SPARK_ATTR_((cleanup(spark_scope_end_), unused)) \
		     struct spark_scope_ variable = SPARK_SCOPE_OPEN_(name))
#endif

/*
 * SPARK_SCOPE - a region from here to the end of the enclosing block, however it is left: return,
 * break, goto, C++ exception (not longjmp; that is repaired and counted).
 *
 * name: as for spark_region_begin; a string that is no literal must stay valid and unchanged to
 * the end of the block, so no temporary. It is a declaration, and usable several times in a block.
 */
#define SPARK_SCOPE(name) SPARK_SCOPE_AS_(SPARK_SCOPE_NAME_(__COUNTER__), name)

#else /* !SPARK_ENABLED */

#define SPARK_SCOPE(name) struct spark_nothing_

#endif /* SPARK_ENABLED */

#endif /* SPARK_SPARK_H */
