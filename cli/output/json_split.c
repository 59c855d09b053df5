/* SPDX-License-Identifier: MIT */
/* The parts of a row's time as JSON. */
#include "cli/output/json_build.h"

static json_t *split_value(const struct report_value *value)
{
	json_t *object = json_object();
	bool has = cell_has_value(&value->cell);

	json_object_set_new(object, "value", has ? json_u64((u64)(value->cell.value + 0.5)) : json_null());
	json_object_set_new(object, "state", json_string(cell_state_name(value->cell.state)));
	json_object_set_new(object, "source", json_text(value->source));
	if (value->cell.note)
		json_object_set_new(object, "note", json_text(value->cell.note));
	return object;
}

json_t *json_split(const struct report_split *split)
{
	json_t *object;
	u32 i;

	if (!split)
		return json_null();
	object = json_object();
	for (i = 0; i < REPORT_PARTS; i++)
		json_object_set_new(object, report_part_names[i], split_value(&split->part[i]));
	return object;
}
