/* SPDX-License-Identifier: MIT */
/* Running a Check suite with TAP on standard output. */
#ifndef TESTS_UNIT_SUITE_H
#define TESTS_UNIT_SUITE_H

#include <check.h>

/* more: NULL, or further tests. A name with "# SKIP capability: reason" makes them a skip. */
static inline int suite_run_with(const char *name, TCase *tests, TCase *more)
{
	Suite *suite = suite_create(name);
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, tests);
	if (more)
		suite_add_tcase(suite, more);
	runner = srunner_create(suite);
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

static inline int suite_run(const char *name, TCase *tests)
{
	return suite_run_with(name, tests, NULL);
}

#endif
