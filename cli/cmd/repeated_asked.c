/* SPDX-License-Identifier: MIT */
/* The options of several runs; see repeated.h. */
#include <string.h>

#include "cli/cmd/repeated.h"

enum { RUNS_MOST = 100000, COMMANDS_MOST = 16 };

bool repeated_has_pass(const struct repeated_asked *asked, enum run_pass pass)
{
	for (u32 i = 0; i < asked->npasses; i++)
		if (asked->pass[i] == pass)
			return true;
	return false;
}

int repeated_parse(struct repeated_asked *asked, const struct command *command)
{
	asked->npasses = 0;
	for (size_t i = 0; i < asked->passes.n; i++) {
		enum run_pass pass = PASS_TIMING;

		while (pass < PASSES && strcmp(pass_words[pass], asked->passes.item[i]) != 0)
			pass++;
		if (pass == PASSES)
			return command_misused(command, "knows the passes timing, counting and profile, not",
					       asked->passes.item[i]);
		if (repeated_has_pass(asked, pass))
			return command_misused(command, "has this pass twice:", asked->passes.item[i]);
		asked->pass[asked->npasses++] = pass;
	}
	if (!asked->runs)
		return command_misused(command, "makes at least one run, not", "0");
	if (asked->runs == REPEATED_USUAL)
		asked->runs = 0;
	if (asked->runs > RUNS_MOST || asked->warmups > RUNS_MOST)
		return command_misused(command, "makes at most 100000 runs", NULL);
	if (asked->vs.n >= COMMANDS_MOST)
		return command_misused(command, "compares at most 16 commands", NULL);
	return 0;
}

bool repeated_wanted(const struct repeated_asked *asked)
{
	return asked->runs || asked->warmups || asked->vs.n || asked->npasses > 1 ||
	       (asked->npasses && asked->pass[0] != PASS_COUNTING);
}

void repeated_free(struct repeated_asked *asked)
{
	opt_list_free(&asked->passes);
	opt_list_free(&asked->vs);
}
