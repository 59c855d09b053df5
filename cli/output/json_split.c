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

json_t *json_disk_delay(const struct report_row *row)
{
	return row->split && row->root ? split_value(&row->split->disk_delay) : json_null();
}

static json_t *split_waker(const struct report_waker *waker, double all)
{
	static const char *const words[] = {
		[SAMPLES_WAKER_THREAD] = "thread", [SAMPLES_WAKER_OUTSIDE] = "outside", [SAMPLES_WAKER_INTERRUPT] = "interrupt",
		[SAMPLES_WAKER_SOFTIRQ] = "softirq", [SAMPLES_WAKER_OTHERS] = "others",
	};
	json_t *object = json_object();

	json_object_set_new(object, "by", json_string(words[MIN(waker->by, (u32)SAMPLES_WAKER_OTHERS)]));
	json_object_set_new(object, "name", json_text(waker->name));
	json_object_set_new(object, "function", json_text(waker->function));
	json_object_set_new(object, "file", json_text(waker->file));
	json_object_set_new(object, "line", waker->line ? json_u64(waker->line) : json_null());
	json_object_set_new(object, "process", waker->pid ? json_u64(waker->pid) : json_null());
	json_object_set_new(object, "thread", waker->tid ? json_u64(waker->tid) : json_null());
	json_object_set_new(object, "count", json_u64(waker->count));
	json_object_set_new(object, "ns", json_u64((u64)waker->ns));
	json_object_set_new(object, "share", all > 0 ? json_real(100 * waker->ns / all) : json_null());
	return object;
}

json_t *json_wakers(const struct report_split *split, const struct samples *samples)
{
	json_t *object, *list;
	double all = 0;
	bool known;
	size_t i;

	if (!split || (!samples->off_waker && !samples->off_no_waker))
		return json_null();
	object = json_object();
	known = samples->off_waker && !split->absent;
	list = known ? json_array() : json_null();
	for (i = 0; i < split->nwakers; i++)
		all += split->wakers[i].ns;
	for (i = 0; i < split->nwakers; i++)
		json_array_append_new(list, split_waker(&split->wakers[i], all));
	json_object_set_new(object, "value", list);
	json_object_set_new(object, "state", json_string(cell_state_name(!known ? CELL_UNAVAILABLE :
									 samples->off_unwoken || samples->off_shared ?
										 CELL_ESTIMATE : CELL_COUNTED)));
	json_object_set_new(object, "source", json_text(samples->off_waker));
	if (split->absent || samples->off_no_waker)
		json_object_set_new(object, "note", json_text(split->absent ? split->absent : samples->off_no_waker));
	return object;
}
