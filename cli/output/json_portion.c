/* SPDX-License-Identifier: MIT */
/* The member measured: which portion of the run the figures are of. */
#include "cli/output/json_build.h"

void json_portion(struct json_writer *writer, const struct session_facts *facts)
{
	json_t *object, *inside;

	if (!facts->partial && !facts->ninside)
		return;
	object = json_object();
	inside = json_array();
	for (size_t i = 0; i < facts->ninside; i++)
		json_array_append_new(inside, json_text(facts->inside[i]));
	json_object_set_new(object, "run_ns", json_u64(facts->duration_ns));
	json_object_set_new(object, "measured_ns", json_u64(facts->partial ? facts->measured_ns : facts->duration_ns));
	json_object_set_new(object, "spans", json_u64(facts->partial ? facts->nspans : 1));
	json_object_set_new(object, "inside", inside);
	json_member(writer, "measured", object);
}
