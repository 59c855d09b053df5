/* SPDX-License-Identifier: MIT */
/* See input.h. */
#include "cli/cmd/input.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int bytes_waiting(void)
{
	int n = 0;

	return ioctl(STDIN_FILENO, FIONREAD, &n) || n < 0 ? 0 : n;
}

void input_keep(struct input *input)
{
	struct stat is;

	*input = (struct input){ .file = false };
	if (fstat(STDIN_FILENO, &is))
		return;
	if (S_ISREG(is.st_mode)) {
		input->at = lseek(STDIN_FILENO, 0, SEEK_CUR);
		input->file = input->at >= 0;
	} else if (S_ISFIFO(is.st_mode) || S_ISSOCK(is.st_mode)) {
		input->waiting = bytes_waiting();
	}
}

void input_rewind(const struct input *input)
{
	/* Runs share the open file, and where it is read from. */
	if (input->file)
		lseek(STDIN_FILENO, input->at, SEEK_SET);
}

bool input_gone(const struct input *input)
{
	return input->waiting && bytes_waiting() < input->waiting;
}
