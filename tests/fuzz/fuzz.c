/* SPDX-License-Identifier: MIT */
/* See fuzz.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

/* A sound input takes less than a millisecond. */
#define PATIENCE_SECONDS 20        /* of CPU time */
#define PATIENCE_ROUNDS 16
#define SINK_ROOM (1u << 20)

static u64 state = 1;
/* The input that is run, for whoever is called when that ends the program. */
static const u8 *volatile current;
static volatile size_t current_size;

u64 fuzz_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

u64 fuzz_below(u64 n)
{
	return n ? fuzz_random() % n : 0;
}

bool fuzz_once_in(u32 n)
{
	return fuzz_below(n) == 0;
}

u64 fuzz_odd(void)
{
	u64 word = 1ULL << fuzz_below(64);

	switch (fuzz_below(6)) {
	case 0:
		return fuzz_below(4);
	case 1:
		return word;
	case 2:
		return word - 1;
	case 3:
		return 0 - word;
	case 4:
		return fuzz_below(65536);
	default:
		return fuzz_random();
	}
}

/* ---- bytes ------------------------------------------------------------------------------------------- */

static size_t bytes_insert(u8 *bytes, size_t size, size_t room, const void *piece, size_t n)
{
	size_t at = fuzz_below(size + 1);

	if (size + n > room)
		return size;
	memmove(bytes + at + n, bytes + at, size - at);
	memcpy(bytes + at, piece, n);
	return size + n;
}

static size_t bytes_remove(u8 *bytes, size_t size)
{
	size_t at = fuzz_below(size), n = size ? 1 + fuzz_below(MIN(size - at, (size_t)16)) : 0;

	memmove(bytes + at, bytes + at + n, size - at - n);
	return size - n;
}

static size_t bytes_change(u8 *bytes, size_t size, size_t room)
{
	u64 word = fuzz_odd();
	size_t n = (size_t)1 << fuzz_below(4), at = fuzz_below(size);

	switch (fuzz_below(size ? 6 : 1)) {
	case 0:
		return bytes_insert(bytes, size, room, &word, n);
	case 1:
		return bytes_remove(bytes, size);
	case 2:
		return fuzz_once_in(4) ? fuzz_below(size + 1) : size;
	case 3:
		bytes[at] ^= (u8)(1u << fuzz_below(8));
		return size;
	case 4:
		memcpy(bytes + at, &word, MIN(n, size - at));
		return size;
	default:
		n = 1 + fuzz_below(MIN(size - at, (size_t)16));
		memmove(bytes + fuzz_below(size - n + 1), bytes + at, n);
		return size;
	}
}

size_t fuzz_mutate_bytes(u8 *bytes, size_t size, size_t room)
{
	for (u64 n = 1 + fuzz_below(6); n; n--)
		size = bytes_change(bytes, size, room);
	return size;
}

size_t fuzz_mutate_text(u8 *bytes, size_t size, size_t room)
{
	static const char *const pieces[] = {
		"0", "9", "-1", "+", ".", ",", ":", " ", "\n", "\t", "\\", "*", "[", "]", "[!", "[a-", "(", ")", "e9", "0x",
		"18446744073709551615", "18446744073709551616", "4294967296", "99999999999999999999999999",
		"ms", "ns", "h", "%s", "%n", "\033[31m", "\x7f", "\xc2\x80", "\xe2\x80\xae", "\xed\xa0\x80", "\xf4\x90\x80\x80",
		"\xc0\x80", "\xef\xbb\xbf", "\xe4\xb8\xad", "e\xcc\x81", "\xff", "--", "--help", "=", "#!",
	};
	const char *piece;

	for (u64 n = 1 + fuzz_below(6); n; n--) {
		piece = pieces[fuzz_below(ARRAY_SIZE(pieces))];
		if (fuzz_once_in(2))
			size = bytes_insert(bytes, size, room, piece, strlen(piece));
		else
			size = bytes_change(bytes, size, room);
	}
	return size;
}

/* ---- output ------------------------------------------------------------------------------------------ */

static char sink[SINK_ROOM];
static size_t sink_len;

static ssize_t sink_write(void *unused, const char *bytes, size_t n)
{
	size_t kept = MIN(n, sizeof(sink) - 1 - sink_len);

	(void)unused;
	memcpy(sink + sink_len, bytes, kept);
	sink_len += kept;
	sink[sink_len] = 0;
	return (ssize_t)n;
}

FILE *fuzz_sink(void)
{
	static FILE *file;

	if (!file)
		file = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = sink_write });
	if (!file)
		abort();
	fflush(file);
	sink_len = 0;
	sink[0] = 0;
	return file;
}

const char *fuzz_sink_text(size_t *len)
{
	*len = sink_len;
	return sink_len < sizeof(sink) - 1 ? sink : NULL;
}

/* What sparkctl would say: the linker sends the calls here (--wrap). */
int __wrap_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
int __wrap_error(const char *format, ...)
{
	char text[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return -1;
}

/* ---- ends -------------------------------------------------------------------------------------------- */

void fuzz_check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: does not hold: %s\n", fuzz_target.name, what);
	abort();
}

/* Sanitizers know. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t memory_held(void)
{
	return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes() : 0;
}

/*
 * In a copy of just its size. What is still held after a second time is a leak: the first may fill
 * a cache.
 */
static void input_run(const u8 *bytes, size_t size)
{
	u8 *copy = malloc(size ? size : 1);
	size_t held;

	if (!copy)
		abort();
	memcpy(copy, bytes, size);
	current_size = size;
	current = copy;
	for (u32 i = 0; i < 3; i++) {
		held = memory_held();
		fuzz_target.run(copy, size);
		if (memory_held() <= held)
			break;
		fuzz_check(i < 2, "all memory is given back");
	}
	current = NULL;
	free(copy);
}

#ifdef FUZZ_LIBFUZZER

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const u8 *bytes, size_t size);
size_t LLVMFuzzerCustomMutator(u8 *bytes, size_t size, size_t most, unsigned int with);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	fuzz_target.open(*argv);
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t size)
{
	if (size <= fuzz_target.room)
		input_run(bytes, size);
	return 0;
}

size_t LLVMFuzzerCustomMutator(u8 *bytes, size_t size, size_t most, unsigned int with)
{
	state = (u64)with * 0x9e3779b97f4a7c15ULL + 1;
	if (most < fuzz_target.room)
		return size;
	if (size < 16 || fuzz_once_in(64))
		size = fuzz_target.make(bytes);
	return fuzz_target.mutate(bytes, size);
}

#else

static const char *directory = ".";
static u64 seed = 1, round_now;

/* Once: an error handler may be called in an error handler. */
static void input_save(void)
{
	const u8 *bytes = current;
	char path[512];
	ssize_t done;
	int fd;

	current = NULL;
	if (!bytes)
		return;
	snprintf(path, sizeof(path), "%s/crash-%s-%llu", directory, fuzz_target.name, (unsigned long long)(seed + round_now));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	done = fd < 0 ? -1 : write(fd, bytes, current_size);
	fprintf(stderr, "%s: %s input of seed %llu in %s\n", fuzz_target.name,
		done == (ssize_t)current_size ? "saved the" : "could not save the", (unsigned long long)(seed + round_now),
		path);
	if (fd >= 0)
		close(fd);
}

/*
 * Sanitizers say what is wrong, call this, and end the program; that of undefined behaviour calls
 * what has this name.
 */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
void __ubsan_on_report(void);
void __ubsan_on_report(void)
{
	input_save();
}

static void crashed(int n)
{
	if (n == SIGPROF)
		fprintf(stderr, "%s: an input of rounds up to %llu takes more than %d s of CPU time\n", fuzz_target.name,
			(unsigned long long)round_now, PATIENCE_SECONDS);
	input_save();
	signal(n, SIG_DFL);
	raise(n);
}

static void ends_watch(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };

	signal(SIGPROF, crashed);
	signal(SIGABRT, crashed);
	if (__sanitizer_set_death_callback) {
		__sanitizer_set_death_callback(input_save);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		signal(faults[i], crashed);
}

static int file_run(const char *path)
{
	u8 *bytes = malloc(fuzz_target.room);
	FILE *file = fopen(path, "re");
	size_t size;

	if (!file || !bytes) {
		fprintf(stderr, "%s: cannot read %s: %s\n", fuzz_target.name, path, strerror(errno));
		return 2;
	}
	size = fread(bytes, 1, fuzz_target.room, file);
	fclose(file);
	input_run(bytes, size);
	free(bytes);
	printf("%s: %zu bytes: no crash\n", path, size);
	return 0;
}

static void rounds_run(u64 rounds)
{
	u8 *bytes = malloc(fuzz_target.room);
	struct timespec from, to;
	size_t size;

	if (!bytes)
		abort();
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (round_now = 0; round_now < rounds; round_now++) {
		if (round_now % PATIENCE_ROUNDS == 0)
			setitimer(ITIMER_PROF, &(struct itimerval){ .it_value.tv_sec = PATIENCE_SECONDS }, NULL);
		state = (seed + round_now) * 0x9e3779b97f4a7c15ULL;
		state = state ? state : 1;
		size = fuzz_target.make(bytes);
		/* Some are left sound: they must do, too. */
		if (!fuzz_once_in(64))
			size = fuzz_target.mutate(bytes, size);
		input_run(bytes, size);
	}
	setitimer(ITIMER_PROF, &(struct itimerval){ .it_value.tv_sec = 0 }, NULL);
	clock_gettime(CLOCK_MONOTONIC, &to);
	free(bytes);
	printf("# %s: %llu inputs of seed %llu in %.1f s\n", fuzz_target.name, (unsigned long long)rounds,
	       (unsigned long long)seed, (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9);
}

int main(int argc, char **argv)
{
	u64 rounds = fuzz_target.rounds;
	int option, status = 0;

	while ((option = getopt(argc, argv, "n:s:d:")) != -1)
		switch (option) {
		case 'n':
			rounds = strtoull(optarg, NULL, 0);
			break;
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'd':
			directory = optarg;
			break;
		default:
			return 2;
		}
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	ends_watch();
	fuzz_target.open(argv);
	for (int i = optind; i < argc; i++)
		status |= file_run(argv[i]);
	if (optind < argc)
		return status;
	rounds_run(rounds);
	printf("1..1\nok 1 - %llu inputs of seed %llu\n", (unsigned long long)rounds, (unsigned long long)seed);
	return 0;
}

#endif
