/* SPDX-License-Identifier: MIT */
/* The lines of the table format about the page cache that the command found, and the storage of the run. */
#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/lines.h"

/* "0 of 4 096 pages in memory, 100 % at the end". */
static void cache_pages(char *out, size_t size, const struct cache_file *file)
{
	char resident[FORMAT_SIZE], pages[FORMAT_SIZE], share[FORMAT_SIZE];
	int n;

	if (file->start < 0 || !file->pages) {
		snprintf(out, size, "%s", file->start < 0 ? "how much is in memory is not known" : "empty");
		return;
	}
	format_count(resident, (double)file->start);
	format_count(pages, (double)file->pages);
	n = snprintf(out, size, "%s of %s pages in memory at the start", resident, pages);
	format_percent(share, 100.0 * (double)MIN((u64)MAX(file->end, (s64)0), file->pages) / (double)file->pages);
	if (file->end >= 0)
		snprintf(out + n, size - (size_t)n, ", %s at the end", share);
}

static void cache_file_line(const struct lines *lines, const struct cache_file *file, bool first)
{
	char *name = lines_name_middle(file->path, lines_name_most(lines)), pages[4 * FORMAT_SIZE];

	cache_pages(pages, sizeof(pages), file);
	lines_print(lines, STYLE_PLAIN, first ? "cache files" : "", "%s: %s, %s", name ? name : "?", cache_regime_words[file->regime],
		    pages);
	free(name);
}

static void cache_lines(const struct lines *lines, const struct cache_fact *cache)
{
	bool as_asked = !strcmp(cache_asked_words[cache->asked], cache_regime_words[cache->regime]);
	char pages[4 * FORMAT_SIZE] = "", *because = cache->because ? lines_name(cache->because, CACHE_BECAUSE) : NULL;

	if (cache->nfiles == 1 && cache->files[0].start >= 0)
		cache_pages(pages, sizeof(pages), &cache->files[0]);
	lines_print(lines, as_asked ? STYLE_PLAIN : STYLE_BAD, "cache", "%s%s%s%s%s%s%s%s", cache_regime_words[cache->regime],
		    as_asked ? ", as asked" : ", not ", as_asked ? "" : cache_asked_words[cache->asked],
		    as_asked ? "" : " as asked", because ? ": " : "", because ? because : "", pages[0] ? "; " : "", pages);
	free(because);
	for (size_t i = 0; i < cache->nfiles && (cache->nfiles > 1 || lines->options->verbose > 0); i++)
		cache_file_line(lines, &cache->files[i], i == 0);
}

static void device_pieces(struct lines_row *row, const struct storage_device *device, bool verbose)
{
	char *detail = device->detail ? lines_name_middle(device->detail, 40) : NULL, amount[FORMAT_SIZE];

	lines_piece(row, "%s %s%s%s%s", device->kind ? device->kind : "device", device->name ? device->name : "?", detail ? " (" : "",
		    detail ? detail : "", detail ? ")" : "");
	free(detail);
	if (device->because)
		lines_piece(row, "not known: %s", device->because);
	if (device->scheduler)
		lines_piece(row, "scheduler %s", device->scheduler);
	if (device->read_ahead >= 0) {
		snprintf(amount, sizeof(amount), "%lld kB", (long long)(device->read_ahead / 1024));
		lines_piece(row, "read-ahead %s", amount);
	}
	if (device->rotational >= 0 && (device->rotational || verbose))
		lines_piece(row, device->rotational ? "rotational" : "not rotational");
	if (device->write_cache)
		lines_piece(row, "%s", device->write_cache);
	if (device->requests >= 0 && verbose)
		lines_piece(row, "%lld requests", (long long)device->requests);
	if (device->queue_depth >= 0 && verbose)
		lines_piece(row, "queue depth %lld", (long long)device->queue_depth);
	if (device->direct >= 0 && verbose)
		lines_piece(row, device->direct ? "direct" : "through the page cache");
}

static void path_lines(const struct lines *lines, const struct storage_path *path, const char *label)
{
	const char *const words[] = { path->options, path->super_options };
	struct lines_row row = lines_begin(lines, label, ", ");
	char *name = lines_name_middle(path->path, lines_name_most(lines)), *text;
	bool verbose = lines->options->verbose > 0;

	lines_piece(&row, "%s: %s", name ? name : "?", path->type ? path->type : "not known");
	free(name);
	for (size_t i = 0; verbose && i < ARRAY_SIZE(words); i++) {
		text = words[i] ? lines_name(words[i], 4 * lines_name_most(lines)) : NULL;
		if (text)
			lines_piece(&row, "%s", text);
		free(text);
	}
	text = path->layer ? lines_name_middle(path->layer, lines_name_most(lines)) : NULL;
	if (text)
		lines_piece(&row, "by %s", text);
	free(text);
	for (size_t i = 0; i < path->ndevices; i++)
		device_pieces(&row, &path->devices[i], verbose);
	text = path->because ? lines_name(path->because, 4 * lines_name_most(lines)) : NULL;
	if (text)
		lines_piece(&row, "%s", text);
	free(text);
	lines_end(&row);
}

/* The same as of the one before it. */
static bool path_told(const struct storage_fact *storage, size_t i)
{
	const struct storage_path *a = &storage->paths[i], *b;

	for (size_t k = 0; k < i; k++) {
		b = &storage->paths[k];
		if (a->mount && b->mount && !strcmp(a->mount, b->mount) && !a->layer && !b->layer)
			return true;
	}
	return false;
}

void lines_storage(const struct lines *lines)
{
	const struct session_facts *facts = lines->report->facts;
	const struct storage_fact *storage = facts->storage;
	bool first = true, verbose = lines->options->verbose > 0;
	char *text;

	if (facts->cache)
		cache_lines(lines, facts->cache);
	if (!storage || lines->options->verbose < 0 || (!facts->cache && !storage->io_model && !verbose))
		return;
	for (size_t i = 0; i < storage->npaths; i++) {
		if (!verbose && path_told(storage, i))
			continue;
		path_lines(lines, &storage->paths[i], first ? "storage" : "");
		first = false;
	}
	text = storage->io_model ? lines_name(storage->io_model, 4 * lines_name_most(lines)) : NULL;
	if (text)
		lines_print(lines, STYLE_PLAIN, "I/O", "%s, as declared", text);
	free(text);
	if (verbose)
		lines_print(lines, STYLE_PLAIN, "memory", "pages of %lld B, huge pages %s, swap %s", (long long)storage->page_size,
			    storage->huge_pages ? storage->huge_pages : "not known", storage->swap ? storage->swap : "not known");
}
