/* SPDX-License-Identifier: MIT */
/* The lines of the table format about the page cache that the command found, and the storage of the run. */
#include <stdlib.h>
#include <string.h>

#include "cli/output/format.h"
#include "cli/output/lines.h"

enum { OPENED_SHOWN = 20 };

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

/* A recording may have any text there. */
static void piece_of(struct lines_row *row, const char *before, const char *text, const char *after)
{
	char *name = text ? lines_name_middle(text, 4 * lines_name_most(row->lines)) : NULL;

	if (name)
		lines_piece(row, "%s%s%s", before, name, after);
	free(name);
}

static void device_pieces(struct lines_row *row, const struct storage_device *device, bool verbose)
{
	char name[512];

	snprintf(name, sizeof(name), "%.60s %.60s%s%.300s%s", device->kind ? device->kind : "device", device->name ? device->name : "?",
		 device->detail ? " (" : "", device->detail ? device->detail : "", device->detail ? ")" : "");
	piece_of(row, "", name, "");
	piece_of(row, "not known: ", device->because, "");
	piece_of(row, "scheduler ", device->scheduler, "");
	if (device->read_ahead >= 0)
		lines_piece(row, "read-ahead %lld kB", (long long)(device->read_ahead / 1024));
	if (device->rotational >= 0 && (device->rotational || verbose))
		lines_piece(row, device->rotational ? "rotational" : "not rotational");
	piece_of(row, "", device->write_cache, "");
	if (device->requests >= 0 && verbose)
		lines_piece(row, "%lld requests", (long long)device->requests);
	if (device->queue_depth >= 0 && verbose)
		lines_piece(row, "queue depth %lld", (long long)device->queue_depth);
	if (device->direct >= 0 && verbose)
		lines_piece(row, device->direct ? "direct" : "through the page cache");
}

static void path_lines(const struct lines *lines, const struct storage_path *path, const char *label)
{
	struct lines_row row = lines_begin(lines, label, ", ");
	char *name = lines_name_middle(path->path, lines_name_most(lines));
	bool verbose = lines->options->verbose > 0;

	lines_piece(&row, "%s:", name ? name : "?");
	free(name);
	row.gap = " ";
	piece_of(&row, "", path->type ? path->type : "not known", "");
	row.gap = ", ";
	if (verbose) {
		piece_of(&row, "", path->options, "");
		piece_of(&row, "", path->super_options, "");
	}
	piece_of(&row, "by ", path->layer, "");
	for (size_t i = 0; i < path->ndevices; i++)
		device_pieces(&row, &path->devices[i], verbose);
	piece_of(&row, "", path->because, "");
	lines_end(&row);
}

/* The same as of one before it. Of files that were opened it is enough to be on the same file system. */
static bool path_told(const struct storage_fact *storage, size_t i)
{
	const struct storage_path *a = &storage->paths[i], *b;

	for (size_t k = 0; k < i; k++) {
		b = &storage->paths[k];
		if (a->mount && b->mount && !strcmp(a->mount, b->mount) && (storage_is_opened(a) || (!a->layer && !b->layer)))
			return true;
	}
	return false;
}

/* Which there are, and how that is known. */
static void opened_lines(const struct lines *lines, const struct storage_fact *storage)
{
	struct lines_row row = lines_begin(lines, "opened", ", ");
	char because[STORAGE_OPENED_TEXT];
	bool known = storage_opened_how(storage, because, sizeof(because));
	size_t n = 0;

	for (size_t i = 0; i < storage->npaths; i++)
		if (storage_is_opened(&storage->paths[i]) && n++ < OPENED_SHOWN)
			piece_of(&row, "", storage->paths[i].path, "");
	if (n > OPENED_SHOWN)
		lines_piece(&row, "and %zu more", n - OPENED_SHOWN);
	else if (!n)
		lines_piece(&row, known ? "no file for reading" : "not known");
	row.gap = "; ";
	lines_piece(&row, "%s", because);
	lines_end(&row);
}

void lines_storage_of(const struct lines *lines, const struct storage_fact *storage, bool wanted)
{
	bool verbose = lines->options->verbose > 0;
	size_t shown = 0;
	struct lines_row row;

	if (!storage || lines->options->verbose < 0 || (!wanted && !storage->io_model && !verbose))
		return;
	for (size_t i = 0; i < storage->npaths; i++) {
		if ((!verbose || storage_is_opened(&storage->paths[i])) && path_told(storage, i))
			continue;
		path_lines(lines, &storage->paths[i], shown++ ? "" : "storage");
	}
	if (storage->io_model) {
		row = lines_begin(lines, "I/O", "");
		piece_of(&row, "", storage->io_model, ", as declared");
		lines_end(&row);
	}
	if (!verbose)
		return;
	if (storage->looks >= 0)
		opened_lines(lines, storage);
	row = lines_begin(lines, "memory", ", ");
	lines_piece(&row, "pages of %lld B", (long long)storage->page_size);
	piece_of(&row, "huge pages ", storage->huge_pages ? storage->huge_pages : "not known", "");
	piece_of(&row, "swap ", storage->swap ? storage->swap : "not known", "");
	lines_end(&row);
}

void lines_storage(const struct lines *lines)
{
	const struct session_facts *facts = lines->report->facts;

	if (facts->cache)
		cache_lines(lines, facts->cache);
	lines_storage_of(lines, facts->storage, facts->cache != NULL);
}
