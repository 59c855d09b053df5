/* SPDX-License-Identifier: MIT */
/*
 * The functions of ITT as regions. Tasks, and regions of ITT, have the name that they are given, frames that of their
 * domain. The end of a task has no name: it ends the newest of the thread in its domain, one that overlaps that of its
 * id. So each thread keeps what it has begun. A frame that is begun again, by the same id too, ends the one before; regions
 * and frames that end on another thread are misfits, which the report counts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/markers/itt.h"

#define OPEN_MOST 256              /* tasks of a thread at a time; one more ends the oldest, which may never be ended */
#define EVENTS_MOST 1024

/* Calls the other collector's function, if there is one. */
#define PASS_ON(hook, types, arguments) \
	do { \
		void (*real) types = (void (*) types)__atomic_load_n(&(hook).real, __ATOMIC_ACQUIRE); \
		if (real) \
			real arguments; \
	} while (0)

#define HOOK(call) static struct itt_hook hook_##call = { "__itt_" #call, (void *)itt_##call, NULL, false }
#define HOOK_MAKES(call) static struct itt_hook hook_##call = { "__itt_" #call, (void *)itt_##call, NULL, true }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- objects: kept for good, as the interface has no end of them */

static struct itt_domain *itt_domain_create(const char *name)
{
	static struct itt_domain *all;
	struct itt_domain *domain;

	if (!name)
		return NULL;
	pthread_mutex_lock(&lock);
	for (domain = all; domain && strcmp(domain->name, name) != 0; domain = domain->next)
		;
	if (!domain && (domain = calloc(1, sizeof(*domain)))) {
		domain->name = strdup(name);
		domain->flags = domain->name != NULL;
		domain->next = all;
		all = domain->name ? domain : all;
	}
	pthread_mutex_unlock(&lock);
	return domain;
}
HOOK_MAKES(domain_create);

static struct itt_string *itt_string_handle_create(const char *text)
{
	static struct itt_string *all;
	struct itt_string *string;

	if (!text)
		return NULL;
	pthread_mutex_lock(&lock);
	for (string = all; string && strcmp(string->text, text) != 0; string = string->next)
		;
	if (!string && (string = calloc(1, sizeof(*string)))) {
		string->text = strdup(text);
		string->next = all;
		all = string->text ? string : all;
	}
	pthread_mutex_unlock(&lock);
	return string;
}
HOOK_MAKES(string_handle_create);

/* ---- what a thread has begun */

struct open {
	const char *name;            /* NULL: no region, yet its end is not another task's */
	const struct itt_domain *domain;
	struct itt_id id;
	bool overlapped;
};

struct opened {
	size_t n;
	struct open tasks[OPEN_MOST];
};

static __thread struct opened *opened;
static pthread_key_t opened_key;
static bool opened_key_made;
static pthread_once_t opened_once = PTHREAD_ONCE_INIT;

static void opened_free(void *block)
{
	opened = NULL;
	free(block);
}

static void opened_key_make(void)
{
	opened_key_made = !pthread_key_create(&opened_key, opened_free);
}

static struct opened *opened_get(void)
{
	if (!opened) {
		pthread_once(&opened_once, opened_key_make);
		opened = opened_key_made ? calloc(1, sizeof(*opened)) : NULL;
		if (opened)
			pthread_setspecific(opened_key, opened);
	}
	return opened;
}

static void task_remove(struct opened *mine, size_t at)
{
	const char *name = mine->tasks[at].name;

	memmove(&mine->tasks[at], &mine->tasks[at + 1], (--mine->n - at) * sizeof(mine->tasks[at]));
	if (name)
		spark_region_end(name);
}

static void task_push(struct open task)
{
	struct opened *mine = opened_get();

	if (!mine)
		return;
	if (mine->n == OPEN_MOST)
		task_remove(mine, 0);
	mine->tasks[mine->n++] = task;
	if (task.name)
		spark_region_begin(task.name);
}

static bool id_equal(const struct itt_id *a, const struct itt_id *b)
{
	return a->d1 == b->d1 && a->d2 == b->d2 && a->d3 == b->d3;
}

/* The static part makes domains before it is filled, and each part its own: then the name is what they share. */
static bool domain_equal(const struct itt_domain *a, const struct itt_domain *b)
{
	return a == b || (a && b && a->name && b->name && !strcmp(a->name, b->name));
}

/* The newest one that is open; mine->n: none. Of a simple task id is NULL. */
static size_t task_find(const struct opened *mine, const struct itt_domain *domain, const struct itt_id *id)
{
	for (size_t i = mine->n; i-- > 0;) {
		const struct open *task = &mine->tasks[i];

		if (task->overlapped == (id != NULL) && (!id || id_equal(&task->id, id)) && domain_equal(task->domain, domain))
			return i;
	}
	return mine->n;
}

/* An end without a begin is none, as there. */
static void task_pop(const struct itt_domain *domain, const struct itt_id *id)
{
	size_t at = opened ? task_find(opened, domain, id) : 0;

	if (opened && at < opened->n)
		task_remove(opened, at);
}

static const char *text_of(const struct itt_string *string)
{
	return string ? string->text : NULL;
}

/* ---- tasks */

#define NAMED_TYPES (const struct itt_domain *, struct itt_id, struct itt_id, struct itt_string *)

static struct itt_hook hook_task_begin, hook_task_begin_fn, hook_task_end, hook_task_begin_overlapped, hook_task_end_overlapped,
	hook_region_begin, hook_region_end, hook_frame_begin_v3, hook_frame_end_v3, hook_event_create, hook_event_start,
	hook_event_end, hook_metadata_add;

static void itt_task_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent, struct itt_string *name)
{
	PASS_ON(hook_task_begin, NAMED_TYPES, (domain, id, parent, name));
	task_push((struct open){ .name = text_of(name), .domain = domain });
}
HOOK(task_begin);

/* Called by the name of the function. */
static void itt_task_begin_fn(const struct itt_domain *domain, struct itt_id id, struct itt_id parent, void *function)
{
	Dl_info about;
	bool known = dladdr(function, &about) && about.dli_sname;

	PASS_ON(hook_task_begin_fn, (const struct itt_domain *, struct itt_id, struct itt_id, void *), (domain, id, parent, function));
	task_push((struct open){ .name = known ? about.dli_sname : "[function]", .domain = domain });
}
HOOK(task_begin_fn);

static void itt_task_end(const struct itt_domain *domain)
{
	task_pop(domain, NULL);
	PASS_ON(hook_task_end, (const struct itt_domain *), (domain));
}
HOOK(task_end);

static void itt_task_begin_overlapped(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
				      struct itt_string *name)
{
	PASS_ON(hook_task_begin_overlapped, NAMED_TYPES, (domain, id, parent, name));
	task_push((struct open){ .name = text_of(name), .domain = domain, .id = id, .overlapped = true });
}
HOOK(task_begin_overlapped);

static void itt_task_end_overlapped(const struct itt_domain *domain, struct itt_id id)
{
	task_pop(domain, &id);
	PASS_ON(hook_task_end_overlapped, (const struct itt_domain *, struct itt_id), (domain, id));
}
HOOK(task_end_overlapped);

/* ---- regions of ITT: as tasks that overlap; begun again they are the same one, by ittnotify.h */

static void itt_region_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent, struct itt_string *name)
{
	PASS_ON(hook_region_begin, NAMED_TYPES, (domain, id, parent, name));
	if (opened && task_find(opened, domain, &id) < opened->n)
		return;
	task_push((struct open){ .name = text_of(name), .domain = domain, .id = id, .overlapped = true });
}
HOOK(region_begin);

static void itt_region_end(const struct itt_domain *domain, struct itt_id id)
{
	task_pop(domain, &id);
	PASS_ON(hook_region_end, (const struct itt_domain *, struct itt_id), (domain, id));
}
HOOK(region_end);

/* ---- frames: of one domain they do not overlap */

static void itt_frame_begin_v3(const struct itt_domain *domain, struct itt_id *id)
{
	PASS_ON(hook_frame_begin_v3, (const struct itt_domain *, struct itt_id *), (domain, id));
	if (domain && domain->name)
		spark_frame(domain->name);
}
HOOK(frame_begin_v3);

static void itt_frame_end_v3(const struct itt_domain *domain, struct itt_id *id)
{
	if (domain && domain->name)
		spark_region_end(domain->name);
	PASS_ON(hook_frame_end_v3, (const struct itt_domain *, struct itt_id *), (domain, id));
}
HOOK(frame_end_v3);

/* ---- events: numbers for names */

static struct {
	int event;
	char *name;
} events[EVENTS_MOST];
static size_t nevents;

static const char *event_name(int event)
{
	size_t n = __atomic_load_n(&nevents, __ATOMIC_ACQUIRE);

	for (size_t i = 0; i < n; i++)
		if (events[i].event == event)
			return events[i].name;
	return NULL;
}

/* The number is the other collector's, if there is one. */
static int event_add(const char *name, size_t length, int (*real)(const char *, int))
{
	int event = real ? real(name, (int)length) : 0;
	size_t n;

	pthread_mutex_lock(&lock);
	for (n = 0; n < nevents; n++)
		if (strlen(events[n].name) == length && !strncmp(events[n].name, name, length))
			break;
	if (n == nevents && n < EVENTS_MOST && (events[n].name = strndup(name, length))) {
		events[n].event = real ? event : (int)n + 1;
		__atomic_store_n(&nevents, n + 1, __ATOMIC_RELEASE);
	}
	if (!real && n < nevents)
		event = events[n].event;
	pthread_mutex_unlock(&lock);
	return event;
}

static int itt_event_create(const char *name, int length)
{
	int (*real)(const char *, int) = (int (*)(const char *, int))__atomic_load_n(&hook_event_create.real, __ATOMIC_ACQUIRE);

	return name && length > 0 ? event_add(name, strnlen(name, (size_t)length), real) : real ? real(name, length) : 0;
}
HOOK(event_create);

static int itt_event_start(int event)
{
	int (*real)(int) = (int (*)(int))__atomic_load_n(&hook_event_start.real, __ATOMIC_ACQUIRE);
	int status = real ? real(event) : 0;
	const char *name = event_name(event);

	if (name)
		spark_region_begin(name);
	return status;
}
HOOK(event_start);

static int itt_event_end(int event)
{
	int (*real)(int);
	const char *name = event_name(event);

	if (name)
		spark_region_end(name);
	real = (int (*)(int))__atomic_load_n(&hook_event_end.real, __ATOMIC_ACQUIRE);
	return real ? real(event) : 0;
}
HOOK(event_end);

/* ---- numbers that belong to a task: metrics of the innermost open region */

enum itt_number { U64 = 1, S64, U32, S32, U16, S16, FLOAT, DOUBLE };

static bool number_read(enum itt_number type, const void *data, double *value)
{
	switch (type) {
	case U64: *value = (double)*(const unsigned long long *)data; return true;
	case S64: *value = (double)*(const long long *)data; return true;
	case U32: *value = *(const unsigned *)data; return true;
	case S32: *value = *(const int *)data; return true;
	case U16: *value = *(const unsigned short *)data; return true;
	case S16: *value = *(const short *)data; return true;
	case FLOAT: *value = (double)*(const float *)data; return true;
	case DOUBLE: *value = *(const double *)data; return true;
	default: return false;
	}
}

/* Of arrays no number would be the one. */
static void itt_metadata_add(const struct itt_domain *domain, struct itt_id id, struct itt_string *key, int type, size_t count,
			     void *data)
{
	double value;

	PASS_ON(hook_metadata_add, (const struct itt_domain *, struct itt_id, struct itt_string *, int, size_t, void *),
		(domain, id, key, type, count, data));
	if (text_of(key) && count == 1 && data && number_read((enum itt_number)type, data, &value))
		spark_metric(key->text, value);
}
HOOK(metadata_add);

struct itt_hook *const itt_hooks[] = {
	&hook_domain_create, &hook_string_handle_create,
	&hook_task_begin, &hook_task_begin_fn, &hook_task_end, &hook_task_begin_overlapped, &hook_task_end_overlapped,
	&hook_region_begin, &hook_region_end, &hook_frame_begin_v3, &hook_frame_end_v3,
	&hook_event_create, &hook_event_start, &hook_event_end, &hook_metadata_add, NULL,
};
