/* SPDX-License-Identifier: MIT */
/* The members storage and cache: what the run stood on, and which page cache its command found. */
#include "cli/output/json_build.h"

/* null for what is not known. */
static json_t *json_known(s64 value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *json_yes(s64 value)
{
	return value < 0 ? json_null() : json_boolean(value);
}

static json_t *json_device(const struct storage_device *device)
{
	json_t *object = json_object();

	json_object_set_new(object, "depth", json_u64(device->depth));
	json_object_set_new(object, "name", json_text(device->name));
	json_object_set_new(object, "kind", json_text(device->kind));
	json_object_set_new(object, "detail", json_text(device->detail));
	json_object_set_new(object, "scheduler", json_text(device->scheduler));
	json_object_set_new(object, "write_cache", json_text(device->write_cache));
	json_object_set_new(object, "rotational", json_yes(device->rotational));
	json_object_set_new(object, "read_ahead", json_known(device->read_ahead));
	json_object_set_new(object, "requests", json_known(device->requests));
	json_object_set_new(object, "queue_depth", json_known(device->queue_depth));
	json_object_set_new(object, "direct", json_yes(device->direct));
	json_object_set_new(object, "because", json_text(device->because));
	return object;
}

static json_t *json_storage_path(const struct storage_path *path)
{
	json_t *object = json_object(), *devices = json_array();

	for (size_t i = 0; i < path->ndevices; i++)
		json_array_append_new(devices, json_device(&path->devices[i]));
	json_object_set_new(object, "path", json_text(path->path));
	json_object_set_new(object, "role", json_text(path->role));
	json_object_set_new(object, "file_system", json_text(path->type));
	json_object_set_new(object, "source", json_text(path->source));
	json_object_set_new(object, "mount", json_text(path->mount));
	json_object_set_new(object, "options", json_text(path->options));
	json_object_set_new(object, "super_options", json_text(path->super_options));
	json_object_set_new(object, "layer", json_text(path->layer));
	json_object_set_new(object, "devices", devices);
	json_object_set_new(object, "because", json_text(path->because));
	return object;
}

static json_t *json_opened(const struct storage_fact *storage)
{
	json_t *object = json_object();
	char because[STORAGE_OPENED_TEXT];
	bool known = storage_opened_how(storage, because, sizeof(because));

	json_object_set_new(object, "state", json_string(known ? "estimate" : "unavailable"));
	json_object_set_new(object, "source", known ? json_string("/proc/PID/fd") : json_null());
	json_object_set_new(object, "looks", json_known(storage->looks));
	json_object_set_new(object, "more", json_boolean(storage->more));
	json_object_set_new(object, "because", json_string(because));
	return object;
}

void json_storage(struct json_writer *writer, const struct storage_fact *storage)
{
	json_t *object, *paths;

	if (!storage)
		return;
	object = json_object();
	paths = json_array();
	for (size_t i = 0; i < storage->npaths; i++)
		json_array_append_new(paths, json_storage_path(&storage->paths[i]));
	json_object_set_new(object, "paths", paths);
	json_object_set_new(object, "opened", json_opened(storage));
	json_object_set_new(object, "huge_pages", json_text(storage->huge_pages));
	json_object_set_new(object, "swap", json_text(storage->swap));
	json_object_set_new(object, "page_size", json_known(storage->page_size));
	json_object_set_new(object, "io_model_declared", json_text(storage->io_model));
	json_member(writer, "storage", object);
}

json_t *json_regime(const struct cache_fact *cache)
{
	json_t *object = json_object();

	json_object_set_new(object, "asked", json_string(cache_asked_words[cache->asked]));
	json_object_set_new(object, "regime", json_string(cache_regime_words[cache->regime]));
	json_object_set_new(object, "because", json_text(cache->because));
	return object;
}

void json_cache(struct json_writer *writer, const struct cache_fact *cache)
{
	json_t *object, *files;

	if (!cache)
		return;
	object = json_regime(cache);
	files = json_array();
	for (size_t i = 0; i < cache->nfiles; i++) {
		const struct cache_file *file = &cache->files[i];
		json_t *one = json_object();

		json_object_set_new(one, "path", json_text(file->path));
		json_object_set_new(one, "regime", json_string(cache_regime_words[file->regime]));
		json_object_set_new(one, "because", json_text(file->because));
		json_object_set_new(one, "files", json_u64(file->files));
		json_object_set_new(one, "pages", json_u64(file->pages));
		json_object_set_new(one, "found", json_known(file->found));
		json_object_set_new(one, "start", json_known(file->start));
		json_object_set_new(one, "end", json_known(file->end));
		json_array_append_new(files, one);
	}
	json_object_set_new(object, "dropped", json_boolean(cache->dropped));
	json_object_set_new(object, "files", files);
	json_member(writer, "cache", object);
}
