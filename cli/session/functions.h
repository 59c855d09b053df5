/* SPDX-License-Identifier: MIT */
/*
 * Names for the regions of instrumented functions, which the agent knows by their places in files
 * (WIRE_FUNCTION_MARK). Asked for when they are wanted, and kept: a run has many looks at its profile.
 */
#ifndef CLI_SESSION_FUNCTIONS_H
#define CLI_SESSION_FUNCTIONS_H

#include "cli/analyze/profile.h"
#include "cli/analyze/samples.h"

struct session;
struct functions;

/* Puts names into the profile. What goes wrong leaves places as they are, after a message. */
void functions_name(struct session *session, struct profile *profile);
/* The same for the regions of samples, by what was found for the profile; true: some have other names now. */
bool functions_name_regions(struct session *session, struct samples *samples);
void functions_free(struct functions *functions);

#endif
