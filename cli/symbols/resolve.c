/* SPDX-License-Identifier: MIT */
/* Children that read files, and what becomes of them; see resolve.h. */
#include "cli/symbols/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/symbols/libdw.h"
#include "cli/symbols/resolve_build.h"

#define JOBS_MOST 8                  /* children at a time */
#define FILE_NS (20 * NSEC_PER_SEC)
#define TOTAL_NS (60 * NSEC_PER_SEC)
#define PLAIN_NS (2 * NSEC_PER_SEC)  /* for symbols, where debug info took all its time */
#define MEMORY ((size_t)1 << 30)
/* A file that is larger, and of which more is asked, is shared among children. */
#define SHARED_BYTES (16u << 20)
#define SHARED_ADDRESSES 64

struct resolver;

struct job {
	pid_t child;                 /* 0: none */
	struct resolver *resolver;
	const struct resolve_request *request;
	struct resolve_request part; /* its addresses from the given one on */
	size_t first;
	int rows;                    /* memfd that the child writes */
	int alive;                   /* hangs up when the child ends */
	u64 deadline;
	bool *seen;                  /* addresses of the part that were told */
	bool plain;                  /* by symbols alone, since the debug info ended an earlier child */
};

struct resolver {
	struct resolve_options options;
	resolve_found *found;
	void *data;
	u64 deadline;
	struct job jobs[JOBS_MOST];
	size_t njobs, running;
};

const char *resolve_reason_text(enum resolve_reason reason)
{
	static const char *const texts[] = { "named", "stripped", "deleted", "unreadable", "no map of JIT code",
					     "kernel hidden", "out of time" };

	return texts[reason];
}

const char *resolve_lacks_lines(void)
{
#ifdef HAVE_LIBDW
	return libdw_load() ? NULL : "libdw does not load";
#else
	return "built without libdw";
#endif
}

/* Why nothing can be named, without a look into the object; RESOLVE_NAMED: that has to be seen. */
static enum resolve_reason object_hopeless(struct object *object)
{
	if (object->kind == OBJECT_KERNEL)
		return object_kernel_hidden() ? RESOLVE_HIDDEN : RESOLVE_NAMED;
	if (object->kind == OBJECT_JIT)
		return object->jit.map < 0 && object->jit.dump < 0 ? RESOLVE_NO_MAP : RESOLVE_NAMED;
	if (object->kind == OBJECT_FILE && object_descriptor(object) < 0)
		/* Debug info may still be found by its build id. */
		return object->build_id ? RESOLVE_NAMED :
			object->state == OBJECT_DENIED ? RESOLVE_UNREADABLE : RESOLVE_DELETED;
	return object->is_elf ? RESOLVE_NAMED : RESOLVE_UNREADABLE;
}

static void request_fail(const struct resolver *resolver, const struct resolve_request *request,
	enum resolve_reason reason)
{
	size_t i;

	for (i = 0; i < request->n; i++)
		resolver->found(resolver->data, request, i, reason, NULL, 0);
}

/* An address of a job's part, for those who made the request. */
static void part_found(void *data, const struct resolve_request *part, size_t address, enum resolve_reason reason,
	const struct resolve_line *lines, size_t n)
{
	const struct job *job = data;

	(void)part;
	job->resolver->found(job->resolver->data, job->request, job->first + address, reason, lines, n);
}

/* For all addresses that nobody told of. */
static void job_fail(struct job *job, enum resolve_reason reason)
{
	size_t i;

	for (i = 0; i < job->part.n; i++)
		if (!job->seen || !job->seen[i])
			part_found(job, &job->part, i, reason, NULL, 0);
}

/* Bytes of data that this process has already. */
static u64 data_now(void)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (u64)sysconf(_SC_PAGESIZE);
}

static void child_limits(const struct resolver *resolver)
{
	rlim_t seconds = (rlim_t)(resolver->options.file_ns / NSEC_PER_SEC) + 1;
	rlim_t bytes = (rlim_t)(data_now() + resolver->options.memory);
	struct rlimit none = { 0, 0 }, cpu = { seconds, seconds }, data = { bytes, bytes };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_DATA, &data);
}

static void child_work(const struct resolver *resolver, const struct job *job, struct resolve_out *out)
{
	struct resolve_options options = resolver->options;

	options.no_debug |= job->plain;
	if (job->part.object->kind == OBJECT_KERNEL)
		resolve_kernel(&job->part, out);
	else if (job->part.object->kind == OBJECT_JIT)
		resolve_jit(&job->part, out);
	else
		resolve_file(&job->part, &options, job->seen, out);
	resolve_out_flush(out);
}

static void child_run(const struct resolver *resolver, const struct job *job)
{
	static const int handled[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGSEGV, SIGBUS, SIGABRT,
				       SIGFPE, SIGXFSZ };
	struct resolve_out *out = malloc(sizeof(*out));
	sigset_t none;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(handled); i++)
		signal(handled[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	child_limits(resolver);
	if (!out)
		_exit(1);
	resolve_out_init(out, job->rows);
	child_work(resolver, job, out);
	_exit(0);
}

/* Starts the child of a job whose request and deadline are set. 0, or -errno. */
static int job_fork(struct resolver *resolver, struct job *job)
{
	int ends[2];

	job->rows = memfd_create("spark-names", MFD_CLOEXEC);
	if (job->rows < 0)
		return -errno;
	if (pipe2(ends, O_CLOEXEC)) {
		close(job->rows);
		return -errno;
	}
	job->alive = ends[0];
	job->child = fork();
	if (!job->child)
		child_run(resolver, job);
	close(ends[1]);
	if (job->child > 0)
		return 0;
	job->child = 0;
	close(job->rows);
	close(job->alive);
	return -ENOMEM;
}

static int job_start(struct resolver *resolver, struct job *job, const struct resolve_request *request, size_t first,
	size_t n)
{
	u64 now = clock_ns(CLOCK_MONOTONIC);
	int status;

	*job = (struct job){ .resolver = resolver, .request = request, .first = first,
			     .part = { request->object, request->addresses + first, n },
			     .seen = calloc(n, sizeof(bool)),
			     .deadline = MIN(now + resolver->options.file_ns, resolver->deadline) };
	status = job->seen ? job_fork(resolver, job) : -ENOMEM;
	if (status)
		free(job->seen);
	else
		resolver->running++;
	return status;
}

static void job_rows(struct job *job)
{
	struct stat about;
	void *rows;

	if (fstat(job->rows, &about) || about.st_size <= 0)
		return;
	rows = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, job->rows, 0);
	if (rows == MAP_FAILED)
		return;
	resolve_rows(rows, (size_t)about.st_size, &job->part, job->seen, part_found, job);
	munmap(rows, (size_t)about.st_size);
}

/* Once more, for what debug info did not let be told. */
static bool job_again(struct resolver *resolver, struct job *job)
{
	if (job->plain || resolver->options.no_debug || job->part.object->kind != OBJECT_FILE)
		return false;
	job->plain = true;
	job->deadline = clock_ns(CLOCK_MONOTONIC) + PLAIN_NS;
	return job_fork(resolver, job) == 0;
}

/* Takes what a child has found, which may be a part. */
static void job_end(struct resolver *resolver, struct job *job, bool late)
{
	int status = 0;
	bool good;

	if (late)
		kill(job->child, SIGKILL);
	while (waitpid(job->child, &status, 0) < 0 && errno == EINTR)
		continue;
	job->child = 0;
	job_rows(job);
	close(job->rows);
	close(job->alive);
	good = WIFEXITED(status) && !WEXITSTATUS(status);
	late |= WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
	if (!good && job_again(resolver, job))
		return;
	job_fail(job, late ? RESOLVE_OUT_OF_TIME : RESOLVE_UNREADABLE);
	free(job->seen);
	resolver->running--;
}

/* Waits until one child at least has ended. */
static void jobs_wait(struct resolver *resolver)
{
	size_t i, running = resolver->running;

	while (resolver->running == running) {
		struct pollfd ends[JOBS_MOST];
		u64 now = clock_ns(CLOCK_MONOTONIC), next = now + NSEC_PER_SEC;

		for (i = 0; i < resolver->njobs; i++) {
			ends[i] = (struct pollfd){ .fd = resolver->jobs[i].child ? resolver->jobs[i].alive : -1 };
			if (resolver->jobs[i].child)
				next = MIN(next, MAX(now, resolver->jobs[i].deadline));
		}
		poll(ends, resolver->njobs, (int)((next - now) / NSEC_PER_MSEC) + 1);
		now = clock_ns(CLOCK_MONOTONIC);
		for (i = 0; i < resolver->njobs; i++)
			if (resolver->jobs[i].child && (ends[i].revents || now >= resolver->jobs[i].deadline))
				job_end(resolver, &resolver->jobs[i], !ends[i].revents);
	}
}

static struct job *jobs_free(struct resolver *resolver)
{
	size_t i;

	while (resolver->running == resolver->njobs)
		jobs_wait(resolver);
	for (i = 0; resolver->jobs[i].child; i++)
		continue;
	return &resolver->jobs[i];
}

/* Addresses of one file that a child takes: neighbours mostly belong to the same compile units. */
static size_t part_size(const struct resolver *resolver, const struct resolve_request *request)
{
	if (request->object->kind != OBJECT_FILE || resolver->options.no_debug ||
	    request->object->elf.size < SHARED_BYTES ||
	    request->n < SHARED_ADDRESSES)
		return request->n;
	return (request->n + resolver->njobs - 1) / resolver->njobs;
}

static void resolver_take(struct resolver *resolver, const struct resolve_request *request)
{
	enum resolve_reason reason = object_hopeless(request->object);
	size_t size = part_size(resolver, request), first, n;

	if (reason != RESOLVE_NAMED) {
		request_fail(resolver, request, reason);
		return;
	}
	for (first = 0; first < request->n; first += n) {
		struct job late = { .resolver = resolver, .request = request, .first = first };
		struct job *job = jobs_free(resolver);

		n = MIN(size, request->n - first);
		late.part = (struct resolve_request){ request->object, request->addresses + first, n };
		if (clock_ns(CLOCK_MONOTONIC) >= resolver->deadline)
			job_fail(&late, RESOLVE_OUT_OF_TIME);
		else if (job_start(resolver, job, request, first, n))
			job_fail(&late, RESOLVE_UNREADABLE);
	}
}

/* The largest first: the last one to end decides how long all take. */
static int request_compare(const void *left, const void *right)
{
	const struct resolve_request *const *a = left, *const *b = right;
	u64 x = (*a)->object->elf.size, y = (*b)->object->elf.size;

	return x == y ? 0 : x > y ? -1 : 1;
}

int resolve_objects(const struct resolve_request *requests, size_t n, const struct resolve_options *options,
	resolve_found *found, void *data)
{
	struct resolver resolver = { .options = *options, .found = found, .data = data };
	const struct resolve_request **order = calloc(n + 1, sizeof(struct resolve_request *));
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t i;

	if (!order)
		return -ENOMEM;
	if (!resolver.options.file_ns)
		resolver.options.file_ns = FILE_NS;
	if (!resolver.options.total_ns)
		resolver.options.total_ns = TOTAL_NS;
	if (!resolver.options.memory)
		resolver.options.memory = MEMORY;
	resolver.deadline = clock_ns(CLOCK_MONOTONIC) + resolver.options.total_ns;
	resolver.njobs = cpus < 1 ? 1 : (size_t)MIN(cpus, JOBS_MOST);
	/* Children have it for nothing then. */
	if (!options->no_debug)
		libdw_load();
	for (i = 0; i < n; i++)
		order[i] = &requests[i];
	qsort(order, n, sizeof(*order), request_compare);
	for (i = 0; i < n; i++)
		if (order[i]->n)
			resolver_take(&resolver, order[i]);
	while (resolver.running)
		jobs_wait(&resolver);
	free(order);
	return 0;
}
