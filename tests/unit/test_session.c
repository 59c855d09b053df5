/* SPDX-License-Identifier: MIT */
/* session/session: what is asked for before a command has begun. */
#include "cli/session/session.h"

#include "suite.h"

static char shell[] = "sh", option[] = "-c", script[] = "exit 7";
static char *command[] = { shell, option, script, NULL };

static enum session_end run(struct session **session, volatile sig_atomic_t *ended)
{
	static struct session_options options;

	options = (struct session_options){ .argv = command, .outside = true, .ended = ended };
	return session_run(session, &options);
}

START_TEST(begins)
{
	volatile sig_atomic_t ended = 0;
	struct session *session;

	ck_assert_int_eq(run(&session, &ended), SESSION_ENDED);
	ck_assert_int_eq(session_facts(session)->status, 7);
	ck_assert_int_eq(session_interrupted(session), 0);
	session_free(session);
}
END_TEST

/* An end that was wanted meanwhile: the command does not begin, and signals are as they were. */
START_TEST(does_not_begin)
{
	volatile sig_atomic_t ended = SIGTERM;
	struct session *session;
	sigset_t before, after;

	ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &before), 0);
	ck_assert_int_eq(run(&session, &ended), SESSION_INTERRUPTED);
	ck_assert_int_eq(session_facts(session)->status, 0);
	ck_assert_int_eq(session_interrupted(session), SIGTERM);
	session_free(session);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &after), 0);
	ck_assert_int_eq(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("session");

	tcase_add_test(tests, begins);
	tcase_add_test(tests, does_not_begin);
	return suite_run("session", tests);
}
