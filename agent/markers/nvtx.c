/* SPDX-License-Identifier: MIT */
/*
 * NVTX 3, NVIDIA's annotations (github.com/NVIDIA/NVTX: nvToolsExt.h, nvtxTypes.h, nvtxInit.h). Each object that uses
 * it has tables of pointers to functions of its own, and has InitializeInjectionNvtx2() of the library that
 * NVTX_INJECTION64_PATH names put there what it likes.
 *
 * A tool that was named there before is asked first, and ours call what it put into the tables. Ranges have the names
 * of their messages; numbers that come with them are metrics.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "agent/markers/opened.h"

#define STRINGS 8192               /* places for registered strings, a power of two; three quarters are used */
#define NAME_MOST 256              /* of a message in wide characters, with the 0 */
#define NO_TRACKING (-2)           /* NVTX_NO_PUSH_POP_TRACKING: what a push returns where no tool is */
#define ETID_CALLBACKS 1

/* nvtxEventAttributes_t. */
struct event {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
		uint32_t u32;
		int32_t i32;
		float f32;
	} payload;
	int32_t message_type;
	union {
		const char *text;
		const wchar_t *wide;
		const void *string;
	} message;
};

enum payload { PAYLOAD_U64 = 1, PAYLOAD_I64, PAYLOAD_F64, PAYLOAD_U32, PAYLOAD_I32, PAYLOAD_F32 };
enum message { MESSAGE_TEXT = 1, MESSAGE_WIDE, MESSAGE_STRING };

/* NvtxExportTableCallbacks. A table has the addresses of an object's pointers. */
struct callbacks {
	size_t size;
	int (*table)(int module, void ****table, unsigned *size);
};

typedef const void *get_table(uint32_t id);

MARKER_EXPORT int InitializeInjectionNvtx2(get_table *get);

/* ---- names */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct string {
	const void *domain, *handle;
	char *text;                  /* NULL: free. Set last */
} strings[STRINGS];

static struct string *string_find(const void *domain, const void *handle)
{
	size_t at = (size_t)(((uintptr_t)domain * 31 + (uintptr_t)handle) * 0x9e3779b97f4a7c15u >> 20);

	for (;; at++) {
		struct string *string = &strings[at & (STRINGS - 1)];

		if (!__atomic_load_n(&string->text, __ATOMIC_ACQUIRE) ||
		    (string->domain == domain && string->handle == handle))
			return string;
	}
}

/* Kept for good: the interface has no end of them. Handles are the tool's, or ours. */
static void string_add(const void *domain, const void *handle, const char *text)
{
	static size_t used;
	struct string *string;

	pthread_mutex_lock(&lock);
	string = string_find(domain, handle);
	if (!string->text && used < STRINGS / 4 * 3) {
		char *copy = strdup(text);

		used += copy != NULL;
		string->domain = domain;
		string->handle = handle;
		__atomic_store_n(&string->text, copy, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
}

/* In UTF-8. */
static const char *narrow(const wchar_t *wide, char buffer[NAME_MOST])
{
	size_t at = 0;

	for (; wide && *wide && at + 5 < NAME_MOST; wide++) {
		uint32_t c = (uint32_t)*wide;
		int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

		buffer[at++] = (char)(more ? (0xff00u >> (more + 1) & 0xff) | c >> 6 * more : c);
		while (more--)
			buffer[at++] = (char)(0x80 | (c >> 6 * more & 0x3f));
	}
	buffer[at] = 0;
	return wide ? buffer : NULL;
}

static const char *event_name(const void *domain, const struct event *event, char buffer[NAME_MOST])
{
	if (!event || event->size < sizeof(*event))
		return NULL;
	switch ((enum message)event->message_type) {
	case MESSAGE_TEXT: return event->message.text;
	case MESSAGE_WIDE: return narrow(event->message.wide, buffer);
	case MESSAGE_STRING: return string_find(domain, event->message.string)->text;
	default: return NULL;
	}
}

static bool event_number(const struct event *event, double *value)
{
	if (!event || event->size < sizeof(*event))
		return false;
	switch ((enum payload)event->payload_type) {
	case PAYLOAD_U64: *value = (double)event->payload.u64; return true;
	case PAYLOAD_I64: *value = (double)event->payload.i64; return true;
	case PAYLOAD_F64: *value = event->payload.f64; return true;
	case PAYLOAD_U32: *value = event->payload.u32; return true;
	case PAYLOAD_I32: *value = event->payload.i32; return true;
	case PAYLOAD_F32: *value = (double)event->payload.f32; return true;
	default: return false;
	}
}

/* ---- regions */

static const char pushed, started;

/* A push's number is its domain, that of a range its own. */
static void range_begin(const void *kind, uint64_t id, const void *domain, const struct event *event)
{
	char buffer[NAME_MOST];
	double value;

	opened_begin(kind, id, event_name(domain, event, buffer));
	if (event_number(event, &value))
		spark_metric("NVTX payload", value);
}

static void mark(const void *domain, const struct event *event)
{
	char buffer[NAME_MOST];
	const char *name = event_name(domain, event, buffer);
	double value;

	if (name && event_number(event, &value))
		spark_metric(name, value);
}

/* What a message alone is worth. */
static struct event event_of(const char *text, const wchar_t *wide)
{
	struct event event = { .size = sizeof(event), .message_type = text ? MESSAGE_TEXT : MESSAGE_WIDE };

	if (text)
		event.message.text = text;
	else
		event.message.wide = wide;
	return event;
}

static uint64_t id_make(void)
{
	static uint64_t last;

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* ---- functions: what the tool has for each is behind it */

enum { CORE = 1, CORE2 = 5 };

enum function {
	MARK_EX, START_EX, START_A, START_W, END, PUSH_EX, PUSH_A, PUSH_W, POP,
	DOMAIN_MARK, DOMAIN_START, DOMAIN_END, DOMAIN_PUSH, DOMAIN_POP, STRING_A, STRING_W, DOMAIN_A, DOMAIN_W, FUNCTIONS
};

static void *reals[FUNCTIONS];

#define REAL(function, type, types) ((type (*) types)__atomic_load_n(&reals[function], __ATOMIC_ACQUIRE))

static void domain_mark(void *domain, const struct event *event)
{
	void (*real)(void *, const struct event *) = REAL(DOMAIN_MARK, void, (void *, const struct event *));

	if (real)
		real(domain, event);
	mark(domain, event);
}

static void mark_ex(const struct event *event)
{
	void (*real)(const struct event *) = REAL(MARK_EX, void, (const struct event *));

	if (real)
		real(event);
	mark(NULL, event);
}

static uint64_t domain_start(void *domain, const struct event *event)
{
	uint64_t (*real)(void *, const struct event *) = REAL(DOMAIN_START, uint64_t, (void *, const struct event *));
	uint64_t id = real ? real(domain, event) : id_make();

	range_begin(&started, id, domain, event);
	return id;
}

static uint64_t start_ex(const struct event *event)
{
	uint64_t (*real)(const struct event *) = REAL(START_EX, uint64_t, (const struct event *));
	uint64_t id = real ? real(event) : id_make();

	range_begin(&started, id, NULL, event);
	return id;
}

static int domain_push(void *domain, const struct event *event)
{
	int (*real)(void *, const struct event *) = REAL(DOMAIN_PUSH, int, (void *, const struct event *));
	int level = real ? real(domain, event) : NO_TRACKING;

	range_begin(&pushed, (uintptr_t)domain, domain, event);
	return level;
}

static int push_ex(const struct event *event)
{
	int (*real)(const struct event *) = REAL(PUSH_EX, int, (const struct event *));
	int level = real ? real(event) : NO_TRACKING;

	range_begin(&pushed, 0, NULL, event);
	return level;
}

#define BY_MESSAGE(name, function, character, text, wide) \
	static uint64_t start_##name(const character *message) \
	{ \
		uint64_t (*real)(const character *) = REAL(START_##function, uint64_t, (const character *)); \
		uint64_t id = real ? real(message) : id_make(); \
		struct event event = event_of(text, wide); \
		range_begin(&started, id, NULL, &event); \
		return id; \
	} \
	static int push_##name(const character *message) \
	{ \
		int (*real)(const character *) = REAL(PUSH_##function, int, (const character *)); \
		int level = real ? real(message) : NO_TRACKING; \
		struct event event = event_of(text, wide); \
		range_begin(&pushed, 0, NULL, &event); \
		return level; \
	} \
	static const void *string_##name(void *domain, const character *message) \
	{ \
		const void *(*real)(void *, const character *) = \
			REAL(STRING_##function, const void *, (void *, const character *)); \
		const void *handle = real ? real(domain, message) : (const void *)(uintptr_t)id_make(); \
		char buffer[NAME_MOST]; \
		struct event event = event_of(text, wide); \
		const char *name = event_name(NULL, &event, buffer); \
		if (name) \
			string_add(domain, handle, name); \
		return handle; \
	}

BY_MESSAGE(a, A, char, message, NULL)
BY_MESSAGE(w, W, wchar_t, NULL, message)

static void domain_end(void *domain, uint64_t id)
{
	void (*real)(void *, uint64_t);

	opened_end(&started, id);
	real = REAL(DOMAIN_END, void, (void *, uint64_t));
	if (real)
		real(domain, id);
}

static void end(uint64_t id)
{
	void (*real)(uint64_t);

	opened_end(&started, id);
	real = REAL(END, void, (uint64_t));
	if (real)
		real(id);
}

static int domain_pop(void *domain)
{
	int (*real)(void *);

	opened_end(&pushed, (uintptr_t)domain);
	real = REAL(DOMAIN_POP, int, (void *));
	return real ? real(domain) : NO_TRACKING;
}

static int pop(void)
{
	int (*real)(void);

	opened_end(&pushed, 0);
	real = REAL(POP, int, (void));
	return real ? real() : NO_TRACKING;
}

/* Only to tell domains apart: another one for each time it is made. */
static void *domain_a(const char *name)
{
	(void)name;
	return (void *)(uintptr_t)id_make();
}

static void *domain_w(const wchar_t *name)
{
	(void)name;
	return (void *)(uintptr_t)id_make();
}

/* By their numbers in the tables: NvtxCallbackIdCore, NvtxCallbackIdCore2. */
static const struct hook {
	int module;
	unsigned at;
	void *ours;
	bool makes;                  /* objects, which are the tool's where it makes them */
} hooks[FUNCTIONS] = {
	[MARK_EX] = { CORE, 1, (void *)mark_ex, false },
	[START_EX] = { CORE, 4, (void *)start_ex, false },
	[START_A] = { CORE, 5, (void *)start_a, false },
	[START_W] = { CORE, 6, (void *)start_w, false },
	[END] = { CORE, 7, (void *)end, false },
	[PUSH_EX] = { CORE, 8, (void *)push_ex, false },
	[PUSH_A] = { CORE, 9, (void *)push_a, false },
	[PUSH_W] = { CORE, 10, (void *)push_w, false },
	[POP] = { CORE, 11, (void *)pop, false },
	[DOMAIN_MARK] = { CORE2, 1, (void *)domain_mark, false },
	[DOMAIN_START] = { CORE2, 2, (void *)domain_start, false },
	[DOMAIN_END] = { CORE2, 3, (void *)domain_end, false },
	[DOMAIN_PUSH] = { CORE2, 4, (void *)domain_push, false },
	[DOMAIN_POP] = { CORE2, 5, (void *)domain_pop, false },
	[STRING_A] = { CORE2, 10, (void *)string_a, false },
	[STRING_W] = { CORE2, 11, (void *)string_w, false },
	[DOMAIN_A] = { CORE2, 12, (void *)domain_a, true },
	[DOMAIN_W] = { CORE2, 13, (void *)domain_w, true },
};

/* ---- an object's tables */

static void *tool_find(const char *name)
{
	static void *library;
	void *found = __atomic_load_n(&library, __ATOMIC_ACQUIRE);

	if (!found) {
		found = next_open("NVTX_INJECTION64_PATH");
		__atomic_store_n(&library, found, __ATOMIC_RELEASE);
	}
	found = found ? dlsym(found, name) : NULL;
	dlerror();
	return found;
}

/* The place of a function; NULL: the object is older than that. */
static void **place(const struct callbacks *callbacks, const struct hook *hook)
{
	void ***table = NULL;
	unsigned size = 0;

	if (!callbacks->table(hook->module, &table, &size) || !table || hook->at >= size)
		return NULL;
	return table[hook->at];
}

int InitializeInjectionNvtx2(get_table *get)
{
	const struct callbacks *callbacks = get ? get(ETID_CALLBACKS) : NULL;
	int (*init)(get_table *) = (int (*)(get_table *))tool_find("InitializeInjectionNvtx2");
	void *before[FUNCTIONS] = { NULL };
	bool usable = callbacks && callbacks->size >= sizeof(*callbacks) && callbacks->table &&
		      marker_wanted(MARKER_nvtx);
	int status;

	for (size_t i = 0; usable && i < FUNCTIONS; i++) {
		void **at = place(callbacks, &hooks[i]);

		before[i] = at ? *at : NULL;
	}
	status = init ? init(get) : 0;
	for (size_t i = 0; usable && i < FUNCTIONS; i++) {
		void **at = place(callbacks, &hooks[i]);
		bool real = at && status && *at != before[i];

		if (!at || (real && hooks[i].makes))
			continue;
		if (real)
			__atomic_store_n(&reals[i], *at, __ATOMIC_RELEASE);
		__atomic_store_n(at, hooks[i].ours, __ATOMIC_RELEASE);
	}
	return usable ? 1 : status;
}

/* Of extensions the tool alone has something. */
MARKER_EXPORT void InitializeInjectionNvtxExtension(void);
__attribute__((used)) static void (*extension_find(void))(void)
{
	return (void (*)(void))tool_find("InitializeInjectionNvtxExtension");
}
void InitializeInjectionNvtxExtension(void) __attribute__((ifunc("extension_find")));
