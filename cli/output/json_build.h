/* SPDX-License-Identifier: MIT */
/* What the files of the format json share. */
#ifndef CLI_OUTPUT_JSON_BUILD_H
#define CLI_OUTPUT_JSON_BUILD_H

#include <jansson.h>

#include "cli/output/formats.h"

struct json_writer {
	FILE *file;
	bool later;                  /* a comma is due */
	bool failed;                 /* no memory */
};

/* Bytes as a JSON string; what is no UTF-8 becomes \xNN, all else stays as it is. */
json_t *json_bytes(const char *bytes, size_t len);
/* The same of a string; null for NULL. */
json_t *json_text(const char *text);
json_t *json_u64(u64 value);

/* null where it is not known. */
json_t *json_figure(bool known, double value);

/* Members and elements are written and dropped at once. */
void json_member(struct json_writer *writer, const char *key, json_t *value);
void json_open_array(struct json_writer *writer, const char *key);
void json_element(struct json_writer *writer, json_t *value);
void json_close_array(struct json_writer *writer);

/* json_portion.c: of a run that was not measured as a whole. */
void json_portion(struct json_writer *writer, const struct session_facts *facts);

/* json_storage.c: of a run of which it is known. */
void json_storage(struct json_writer *writer, const struct storage_fact *storage);
void json_cache(struct json_writer *writer, const struct cache_fact *cache);
/* What is stamped on each row of it. */
json_t *json_regime(const struct cache_fact *cache);

/* json_split.c: the parts of a row's time; null where nobody asked. */
json_t *json_split(const struct report_split *split);
json_t *json_disk_delay(const struct report_row *row);
/* Who ended its waits; null where nobody asked. */
json_t *json_wakers(const struct report_split *split, const struct samples *samples);

/* json_cost.c: the members costs and clocks, where they were asked for. */
void json_costs(struct json_writer *writer, const struct report *report);
/* json_windows.c: the member window_list. */
void json_windows(struct json_writer *writer, const struct report *report);
/* json_block.c: the member block. */
void json_block(struct json_writer *writer, const struct block *block);

/* diff_json.c: the members kind, path, function, origin, metric, unit and class of a row. */
struct diff_at;
void json_diff_row(json_t *object, const struct diff_at *at);

/* json_profile.c: the members samples and profile. */
void json_profile(struct json_writer *writer, const struct report *report);

#endif
