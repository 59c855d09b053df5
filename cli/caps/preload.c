/* SPDX-License-Identifier: MIT */
/*
 * The probe "preload": the agent's file is there, made for this machine and mappable by this
 * user, and what a session needs to talk with it can be made.
 */
#include "cli/caps/caps.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/caps/arch.h"
#include "common/base.h"

/* memfd_create(2), where the C library's header is older. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

/* The directory of this program with a trailing slash; "" if unknown. */
static void preload_own_folder(char *path, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	path[len > 0 ? len : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash)
		slash[1] = '\0';
}

bool caps_find_agent(char *path, size_t size)
{
	/* A build tree has it in .libs, where libtool may have put this program as well. */
	static const char *const beside[] = {
		"libsparkagent.so", ".libs/libsparkagent.so", "../lib/spark/libsparkagent.so",
		"../lib64/spark/libsparkagent.so",
	};
	char folder[PATH_MAX], real[PATH_MAX];
	size_t i;
	int len;

	preload_own_folder(folder, sizeof(folder));
	for (i = 0; folder[0] && i < ARRAY_SIZE(beside); i++) {
		len = snprintf(path, size, "%s%s", folder, beside[i]);
		if (len > 0 && (size_t)len < size && realpath(path, real) && strlen(real) < size) {
			memcpy(path, real, strlen(real) + 1);
			return true;
		}
	}
	len = snprintf(path, size, "%s", PKGLIBDIR "/libsparkagent.so");
	if (len > 0 && (size_t)len < size && access(path, F_OK) == 0)
		return true;
	path[0] = '\0';
	return false;
}

/* The loader's own steps with the open file, as far as they can be taken from outside. */
static struct outcome preload_check_image(int fd, const char *path)
{
	Elf64_Ehdr head = { .e_type = ET_NONE };
	void *at;

	if (read(fd, &head, sizeof(head)) != (ssize_t)sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_type != ET_DYN)
		return outcome_no("make install in spark's build tree",
			"%.120s is no shared library", path);
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != ARCH_ELF_MACHINE)
		return outcome_no("install the build for this machine",
			"%.120s is for another machine (ELF type %u)", path, head.e_machine);
	at = mmap(NULL, sizeof(head), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return outcome_no("install spark on a file system mounted without noexec",
			"%.120s can't be mapped for execution (%s)", path,
			advice_errno_name(errno));
	munmap(at, sizeof(head));
	return outcome_yes("agent %.200s", path);
}

struct outcome preload_check(const struct caps_context *context)
{
	const char *path = context->agent;
	struct outcome outcome;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return advice_errno(errno, path);
	outcome = preload_check_image(fd, path);
	close(fd);
	return outcome;
}

static int preload_try_segment(void)
{
	struct sigaction before;
	int fd, err = 0;

	fd = memfd_create("spark-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* Refused with EACCES under sysctl vm.memfd_noexec=2, unless sealed against execution. */
	if (fd < 0 && errno == EACCES)
		fd = memfd_create("spark-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	if (fd < 0)
		return -errno;
	caps_outlive_limit(&before);
	if (ftruncate(fd, 4096) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		err = -errno;
	sigaction(SIGXFSZ, &before, NULL);
	close(fd);
	return err;
}

static int preload_try_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* What sparkctl names the agent by, where it is there (agent/preload.sh). */
static struct outcome preload_check_folder(const char *agent)
{
	char folder[PATH_MAX];

	if (snprintf(folder, sizeof(folder), "%.*s/not-libasan.so", (int)(strrchr(agent, '/') - agent), agent) < (int)sizeof(folder) &&
	    access(folder, X_OK) == 0)
		return outcome_yes("agent %.200s", agent);
	return outcome_partly("make install in spark's build tree",
		"the folder not-libasan.so is not beside the agent: 32-bit programs complain, those of the address sanitizer do not start");
}

struct outcome preload_probe(struct caps_context *context)
{
	struct outcome outcome;
	int err;

	if (!context->agent[0])
		return outcome_no("make install in spark's build tree",
			"libsparkagent.so is neither beside sparkctl nor in " PKGLIBDIR);
	outcome = preload_check(context);
	if (outcome.available != CAPS_YES)
		return outcome;
	err = preload_try_segment();
	if (err)
		return advice_call(context, -err, err == -EFBIG ? "ftruncate" : "memfd_create");
	err = preload_try_socket();
	return err ? advice_call(context, -err, "socket") : preload_check_folder(context->agent);
}
