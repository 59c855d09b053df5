/* SPDX-License-Identifier: MIT */
/* What to call the state of the page cache that was reached; see cache.h. */
#include "cli/analyze/cache.h"

#include <stdio.h>
#include <string.h>

const char *const cache_asked_words[] = {
	[CACHE_ASKED_COLD] = "cold", [CACHE_ASKED_WARM] = "warm", [CACHE_ASKED_STEADY] = "steady", NULL,
};

const char *const cache_regime_words[] = {
	[CACHE_COLD] = "cold", [CACHE_PARTLY_COLD] = "partly-cold", [CACHE_PARTLY_WARM] = "partly-warm",
	[CACHE_WARM] = "warm", [CACHE_STEADY] = "steady", [CACHE_MIXED] = "mixed", [CACHE_UNKNOWN] = "unknown", NULL,
};

/* What is not known, or cannot be otherwise. False: pages decide. */
static bool cache_judge_files(const struct cache_look *look, enum cache_regime *regime, char *because)
{
	*regime = CACHE_UNKNOWN;
	if (!look->files) {
		snprintf(because, CACHE_BECAUSE, "%s", look->missing[0] ? look->missing : "there is no regular file");
		return true;
	}
	if (look->unknown) {
		if (look->files == 1)
			snprintf(because, CACHE_BECAUSE, "%s", look->why);
		else
			snprintf(because, CACHE_BECAUSE, "of %llu of %llu files it is not known: %s",
				 (unsigned long long)look->unknown, (unsigned long long)look->files, look->why);
		return true;
	}
	if (look->more) {
		snprintf(because, CACHE_BECAUSE, "there are more than the %llu files that were looked at", (unsigned long long)look->files);
		return true;
	}
	if (look->fixed) {
		*regime = look->fixed == look->files ? CACHE_STEADY : CACHE_MIXED;
		snprintf(because, CACHE_BECAUSE, "%s", look->fixed_why);
		return true;
	}
	return false;
}

/* Part of the pages are in memory, or all where none should be, or none where all should. */
static void cache_judge_rest(enum cache_asked asked, const struct cache_look *look, char *because)
{
	double share = 100.0 * (double)look->resident / (double)look->pages;

	if (asked == CACHE_ASKED_WARM)
		snprintf(because, CACHE_BECAUSE, "%.3g %% of it did not stay in memory: there is too little of that, or the file "
			 "system does not keep pages", 100 - share);
	else if (look->dirty)
		snprintf(because, CACHE_BECAUSE, "%.3g %% of it is in memory: somebody writes to it", share);
	else
		snprintf(because, CACHE_BECAUSE, "%.3g %% of it is in memory: mapped or locked by a process, not yet "
			 "written back, or read again meanwhile", share);
}

enum cache_regime cache_judge(enum cache_asked asked, const struct cache_look *start, const char *behind,
			      char because[CACHE_BECAUSE])
{
	enum cache_regime regime;

	because[0] = '\0';
	if (asked == CACHE_ASKED_STEADY)
		return CACHE_STEADY;
	if (cache_judge_files(start, &regime, because))
		return regime;
	if (!start->pages) {
		snprintf(because, CACHE_BECAUSE, "there is nothing in it");
		return CACHE_STEADY;
	}
	if (start->resident >= start->pages)
		regime = CACHE_WARM;
	else if (start->resident)
		regime = asked == CACHE_ASKED_COLD ? CACHE_PARTLY_COLD : CACHE_PARTLY_WARM;
	else
		regime = CACHE_COLD;
	if (regime != (asked == CACHE_ASKED_COLD ? CACHE_COLD : CACHE_WARM)) {
		cache_judge_rest(asked, start, because);
	} else if (regime == CACHE_COLD && behind && behind[0]) {
		snprintf(because, CACHE_BECAUSE, "%s", behind);
		regime = CACHE_PARTLY_COLD;
	}
	return regime;
}

/* Of two files: the same if it is; what is partly so is not more than that. */
static enum cache_regime cache_both(enum cache_regime a, enum cache_regime b)
{
	if (a == b)
		return a;
	if (a == CACHE_UNKNOWN || b == CACHE_UNKNOWN)
		return CACHE_UNKNOWN;
	if (MAX(a, b) == CACHE_PARTLY_COLD)
		return CACHE_PARTLY_COLD;
	if (MIN(a, b) == CACHE_PARTLY_WARM && MAX(a, b) == CACHE_WARM)
		return CACHE_PARTLY_WARM;
	return CACHE_MIXED;
}

enum cache_regime cache_sum(enum cache_asked asked, const struct cache_file *files, size_t n, char because[CACHE_BECAUSE])
{
	enum cache_regime regime = n ? files[0].regime : CACHE_UNKNOWN;
	const struct cache_file *said = NULL;

	because[0] = '\0';
	if (asked == CACHE_ASKED_STEADY)
		return CACHE_STEADY;
	if (!n)
		snprintf(because, CACHE_BECAUSE, "no file was named to look at");
	for (size_t i = 1; i < n; i++)
		regime = cache_both(regime, files[i].regime);
	/* One that has it itself, and a reason, tells it best. */
	for (size_t i = 0; i < n; i++)
		if (files[i].because && (!said || (said->regime != regime && files[i].regime == regime)))
			said = &files[i];
	if (said)
		snprintf(because, CACHE_BECAUSE, "%.100s%s%.200s", n > 1 ? said->path : "", n > 1 ? ": " : "", said->because);
	else if (regime == CACHE_MIXED)
		snprintf(because, CACHE_BECAUSE, "files differ");
	return regime;
}
