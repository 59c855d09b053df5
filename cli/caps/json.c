/* SPDX-License-Identifier: MIT */
/* Outcomes as JSON, the same in every document that has them; see caps.h. */
#include "cli/caps/caps.h"

#include <jansson.h>
#include <string.h>

#include "cli/text.h"

/* Text that may hold a path, and so any byte. */
static json_t *caps_json_text(const char *text)
{
	char escaped[1100];
	json_t *string = json_string(text);

	if (string)
		return string;
	text_escape(escaped, sizeof(escaped), text, strlen(text));
	return json_string(escaped);
}

/* A time that is known. */
static int caps_json_ns(json_t *object, const char *name, double ns)
{
	return ns > 0 ? json_object_set_new(object, name, json_integer((json_int_t)(ns + 0.5))) : 0;
}

int caps_json_outcome(json_t *object, const struct outcome *outcome)
{
	json_t *remedy = outcome->remedy[0] ? caps_json_text(outcome->remedy) : json_null();

	return json_object_set_new(object, "available",
			json_boolean(outcome->available != CAPS_NO)) ||
		json_object_set_new(object, "state",
			json_string(caps_available_name(outcome->available))) ||
		json_object_set_new(object, "because", caps_json_text(outcome->because)) ||
		json_object_set_new(object, "remedy", remedy) ||
		caps_json_ns(object, "read_ns", outcome->call_ns) ||
		caps_json_ns(object, "user_read_ns", outcome->user_ns) ? -1 : 0;
}

json_t *caps_json(struct caps_context *context)
{
	json_t *all = json_array(), *one;
	struct outcome outcomes[CAPS_MOST];
	const struct capability *row;
	size_t i, n;

	row = caps_table(&n);
	caps_probe_all(context, outcomes);
	for (i = 0; all && i < n; i++) {
		one = json_pack("{ss}", "name", row[i].name);
		if (!one || json_array_append_new(all, one) || caps_json_outcome(one, &outcomes[i])) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}
