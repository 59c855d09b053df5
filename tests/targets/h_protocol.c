/* SPDX-License-Identifier: MIT */
/*
 * h_protocol MODE: a program that speaks badly with sparkctl, by the invitation in its environment,
 * and is measured itself as well. It prints what it could do, and ends with 7.
 *
 *	plain		1,000 calls of "honest"
 *	messages	what is no hello, in many ways
 *	stranger	as one that knows the socket and not the token (of the first run that it finds)
 *	hellos		right hellos: of another pid, two on a connection, 20 of one process, another version
 *	descriptors	messages that bring descriptors
 *	silence		300 connections that say nothing, then 20 programs that are honest
 *	flood		the same, while connections without end are made and closed
 *	halfway		processes that are stopped between connecting and speaking
 *	resize		cuts, stretches, seals and empties the segment
 *	scribble	writes over its segment, while 300 children come and go
 */
#include <dirent.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "common/wire.h"
#include "target.h"

#define PAIRS 1000
#define SILENT 300
#define HONEST 20

extern char **environ;

static struct sockaddr_un address;
static socklen_t address_size = sizeof(address);
static struct wire_hello hello = { .magic = WIRE_MAGIC, .version = WIRE_VERSION, .size = sizeof(hello) };

/* "1,<pid>,<filters>,<token>,<path>" */
static void invitation_read(void)
{
	const char *text = getenv(WIRE_ENV);
	char token[2 * WIRE_TOKEN_SIZE + 1];
	unsigned int byte, i;

	address.sun_family = AF_UNIX;
	if (!text || sscanf(text, "%*u,%*u,%*u,%32[0-9a-f],%107s", token, address.sun_path) != 2)
		target_die("no invitation");
	for (i = 0; i < WIRE_TOKEN_SIZE; i++) {
		sscanf(token + 2 * i, "%2x", &byte);
		hello.token[i] = (u8)byte;
	}
	hello.pid = hello.tid = (u32)getpid();
}

static int reach(void)
{
	struct timeval limit = { 2, 0 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, address_size)) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return fd;
}

static void say(int fd, const void *bytes, size_t size, int passed)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(8 * sizeof(int))];
	} control;
	struct iovec iov = { (void *)(uintptr_t)bytes, size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	int i, zero = 0;

	memset(&control, 0, sizeof(control));
	if (passed) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE((size_t)passed * sizeof(int));
		control.align.cmsg_len = CMSG_LEN((size_t)passed * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		for (i = 0; i < passed; i++)
			memcpy(CMSG_DATA(&control.align) + (size_t)i * sizeof(int), &zero, sizeof(int));
	}
	sendmsg(fd, &m, MSG_NOSIGNAL);
}

/* The descriptor that comes with an answer; -1: an answer without, -2: none. */
static int hear(int fd, struct wire_config *config)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { config, sizeof(*config) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	int memfd = -1;

	/* What was said too much is told first; the answer lies behind that. */
	if (n < 0 && errno == ECONNRESET)
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return n < 0 && errno == EAGAIN ? -3 : -2;
	if (CMSG_FIRSTHDR(&m))
		memcpy(&memfd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return memfd;
}

/* Sends it, and tells what came of it. */
static void tell(const char *what, const void *bytes, size_t size, int passed)
{
	struct wire_config config = { .verdict = 99 };
	int fd = reach(), memfd;
	const char *came;

	say(fd, bytes, size, passed);
	memfd = hear(fd, &config);
	came = memfd >= 0 ? "a segment" : memfd == -1 ? "an answer" : memfd == -2 ? "refused" : "kept waiting";
	printf("%s: %s\n", what, came);
	if (memfd >= 0)
		close(memfd);
	close(fd);
}

static void work(void)
{
	int i;

	for (i = 0; i < PAIRS; i++) {
		spark_region_begin("honest");
		spark_region_end("honest");
	}
	target_region("honest", PAIRS);
}

static void messages(void)
{
	static unsigned char bytes[70000];
	struct wire_hello wrong;

	tell("nothing", "", 0, 0);
	tell("a byte", "x", 1, 0);
	memset(bytes, 0xff, sizeof(bytes));
	tell("garbage", bytes, sizeof(hello), 0);
	tell("much garbage", bytes, sizeof(bytes), 0);
	tell("a short hello", &hello, sizeof(hello) - 1, 0);
	memcpy(bytes, &hello, sizeof(hello));
	tell("a long hello", bytes, sizeof(hello) + 1, 0);
	wrong = hello;
	wrong.magic ^= 1;
	tell("wrong magic", &wrong, sizeof(wrong), 0);
	wrong = hello;
	wrong.size++;
	tell("wrong size", &wrong, sizeof(wrong), 0);
	wrong = hello;
	wrong.token[WIRE_TOKEN_SIZE - 1] ^= 0x80;
	tell("wrong token", &wrong, sizeof(wrong), 0);
}

/* Abstract names are there for everybody to read, and with them half of the token. */
static void stranger(void)
{
	char line[512], *at;
	FILE *file = fopen("/proc/net/unix", "re");

	while (file && fgets(line, sizeof(line), file)) {
		at = strstr(line, "@" WIRE_ABSTRACT_PREFIX);
		if (!at || strlen(at) < sizeof(WIRE_ABSTRACT_PREFIX) + WIRE_ABSTRACT_DIGITS)
			continue;
		address.sun_family = AF_UNIX;
		memcpy(address.sun_path + 1, at + 1, sizeof(WIRE_ABSTRACT_PREFIX) - 1 + WIRE_ABSTRACT_DIGITS);
		address_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(WIRE_ABSTRACT_PREFIX) +
					   WIRE_ABSTRACT_DIGITS);
		break;
	}
	tell("a stranger", &hello, sizeof(hello), 0);
}

static void hellos(void)
{
	struct wire_hello other = hello;
	struct wire_config config;
	int fd, i;

	other.pid = 1;
	tell("of another pid", &other, sizeof(other), 0);
	fd = reach();
	say(fd, &hello, sizeof(hello), 0);
	say(fd, &hello, sizeof(hello), 0);
	i = hear(fd, &config);
	printf("two at once: %s, then %s\n", i >= 0 ? "a segment" : "no", hear(fd, &config) == -2 ? "the end" : "more");
	close(i);
	close(fd);
	for (i = 0; i < 20; i++)
		tell("again", &hello, sizeof(hello), 0);
	other = hello;
	other.version = 77;
	for (i = 0; i < 5; i++)
		tell("of another version", &other, sizeof(other), 0);
}

static int descriptors_of_parent(void)
{
	char path[64];
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", strchr(getenv(WIRE_ENV), ',') + 1);
	strcpy(path + strcspn(path, ","), "/fd");
	dir = opendir(path);
	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static void descriptors(void)
{
	int before = descriptors_of_parent(), i;

	for (i = 0; i < 50; i++)
		tell("with descriptors", "garbage", 7, 8);
	/* The last one may be on its way out. */
	printf("kept: %d\n", descriptors_of_parent() - before > 2);
	tell("a hello with descriptors", &hello, sizeof(hello), 8);
}

static int run_honest(void)
{
	static char plain[] = "plain", name[] = "/proc/self/exe";
	char *argv[] = { name, plain, NULL };
	int status = -1;
	pid_t pid;

	if (posix_spawn(&pid, name, NULL, NULL, argv, environ))
		target_die("posix_spawn");
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static void honest(void)
{
	int i, good = 0;

	fflush(stdout);
	for (i = 0; i < HONEST; i++)
		good += run_honest();
	printf("%d honest programs\n", good);
}

static void silence(void)
{
	int i, n = 0;

	for (i = 0; i < SILENT; i++)
		n += reach() >= 0;
	printf("%d connections\n", n);
	honest();
}

static void flood(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		int fds[200], at = 0;

		memset(fds, -1, sizeof(fds));
		for (;;) {
			close(fds[at % 200]);
			fds[at++ % 200] = reach();
		}
	}
	honest();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void halfway(void)
{
	pid_t pids[100];
	int i;

	for (i = 0; i < 100; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			int fd = reach();

			if (i % 2)
				say(fd, &hello, sizeof(hello) / 2, 0);
			raise(SIGSTOP);
			_exit(0);
		}
	}
	for (i = 0; i < 100; i++)
		waitpid(pids[i], NULL, WUNTRACED);
	honest();
	for (i = 0; i < 100; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

static void resize(void)
{
	struct wire_config config;
	int fd = reach(), memfd;

	say(fd, &hello, sizeof(hello), 0);
	memfd = hear(fd, &config);
	printf("cut: %d, stretched: %d", ftruncate(memfd, 0), ftruncate(memfd, (off_t)1 << 40));
	printf(", sealed: %d", fcntl(memfd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_WRITE));
	printf(", emptied: %d\n", fallocate(memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, WIRE_SEGMENT_SIZE));
	close(memfd);
	close(fd);
}

/* What the agent has mapped of the segment of this program. */
static unsigned int *segment_find(size_t *words)
{
	unsigned long from = 0, to = 0;
	char line[512];
	FILE *file = fopen("/proc/self/maps", "re");

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "memfd:spark") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			break;
	if (file)
		fclose(file);
	*words = (to - from) / sizeof(int);
	return to > from ? (unsigned int *)from : NULL;
}

static void scribble_on(unsigned int *segment, size_t words)
{
	unsigned int word = 12345, i;

	for (;;) {
		for (i = 0; i < 64; i++) {
			word = word * 1664525 + 1013904223;
			segment[(word >> 4) % (i % 2 ? words : 0x8000)] = word & 1 ? word : word >> 20;
		}
		usleep(50);
	}
}

/* A marker may not survive that: the child may end in any way, but it ends. */
static void scribble(void)
{
	pid_t scribbler, pid;
	size_t words;
	unsigned int *segment;
	int i;

	work();
	segment = segment_find(&words);
	if (!segment)
		target_die("no segment is mapped");
	scribbler = fork();
	if (scribbler == 0)
		scribble_on(segment, words);
	for (i = 0; i < 300; i++) {
		pid = fork();
		if (pid == 0) {
			alarm(1);
			spark_region_begin("child");
			spark_region_end("child");
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	kill(scribbler, SIGKILL);
	waitpid(scribbler, NULL, 0);
}

static const struct mode {
	const char *name;
	void (*run)(void);
} modes[] = {
	{ "plain", work }, { "messages", messages }, { "hellos", hellos }, { "descriptors", descriptors },
	{ "silence", silence }, { "flood", flood }, { "halfway", halfway }, { "resize", resize },
	{ "scribble", scribble },
};

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	size_t i;

	if (!strcmp(mode, "stranger")) {
		stranger();
		return 7;
	}
	target_open();
	invitation_read();
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(mode, modes[i].name)) {
			modes[i].run();
			return 7;
		}
	return 2;
}
