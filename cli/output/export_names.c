/* SPDX-License-Identifier: MIT */
/* How processes, functions and objects are called in exports, and what else these share; see exports.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/output/exports.h"
#include "cli/text.h"

int export_no_memory(void)
{
	return error("out of memory for the export");
}

void export_json(FILE *file, const char *bytes, size_t length)
{
	size_t i;

	putc_unlocked('"', file);
	for (i = 0; i < length; i++) {
		if (bytes[i] == '"' || bytes[i] == '\\')
			putc_unlocked('\\', file);
		putc_unlocked(bytes[i], file);
	}
	putc_unlocked('"', file);
}

u64 export_period(const struct exporter *exporter, u32 row, u32 *printed)
{
	const struct samples_row *r = &exporter->samples->rows[row];

	return r->count ? r->weight / r->count + (printed[row]++ < r->weight % r->count) : 0;
}

/* Serials mostly are without gaps. */
const struct process_facts *export_process(const struct exporter *exporter, u32 serial)
{
	const struct session_facts *facts = exporter->facts;
	size_t i;

	if (serial - 1 < facts->nprocesses && facts->processes[serial - 1].id == serial)
		return &facts->processes[serial - 1];
	for (i = 0; i < facts->nprocesses; i++)
		if (facts->processes[i].id == serial)
			return &facts->processes[i];
	return NULL;
}

char *export_name(const char *front, const char *bytes, size_t length)
{
	size_t begin = strlen(front), size = text_escape((char[1]){ 0 }, 1, bytes, length) + 1;
	char *name = malloc(begin + size);

	if (!name)
		return NULL;
	memcpy(name, front, begin);
	text_escape(name + begin, size, bytes, length);
	return name;
}

char *export_process_name(const struct process_facts *process, u32 pid)
{
	const char *command = process && process->command ? process->command : "", *c;
	size_t length = strcspn(command, " ");
	char number[16];

	for (c = command; c < command + length; c++)
		if (*c == '/') {
			length -= (size_t)(c + 1 - command);
			command = c + 1;
		}
	if (length)
		return export_name("", command, length);
	snprintf(number, sizeof(number), ":%u", pid);
	return strdup(number);
}

char *export_string_name(const struct exporter *exporter, u32 string)
{
	const struct samples_string *s = &exporter->samples->strings[string];

	return export_name("", s->bytes, s->length);
}

char *export_object_name(const struct exporter *exporter, u32 object)
{
	const char *path = exporter->samples->objects[object].path, *slash = strrchr(path, '/');
	const char *last = slash ? slash + 1 : path;
	char *name, *end;

	if (*last == '[')
		return export_name("", last, strlen(last));
	name = export_name("[", last, strlen(last));
	end = name ? realloc(name, strlen(name) + 2) : NULL;
	if (!end) {
		free(name);
		return NULL;
	}
	return strcat(end, "]");
}

void export_colons(char *name)
{
	while ((name = strchr(name, ';')))
		*name++ = ':';
}

void export_order(const u32 *keys, u32 n, u32 more, u32 *starts, u32 nkeys, u32 *order)
{
	u32 i;

	for (i = 0; i < n; i++)
		starts[keys[i] + more + 2]++;
	for (i = 1; i < nkeys + 2; i++)
		starts[i] += starts[i - 1];
	for (i = 0; i < n; i++)
		order[starts[keys[i] + more + 1]++] = i;
}
