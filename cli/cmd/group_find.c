/* SPDX-License-Identifier: MIT */
/* Where the files of groups are; see group.h. */
#define _GNU_SOURCE
#include "cli/cmd/group.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/text.h"

static const char group_suffix[] = ".group";

static bool group_has_suffix(const char *name)
{
	size_t len = strlen(name), suffix = sizeof(group_suffix) - 1;

	return len > suffix && !strcmp(name + len - suffix, group_suffix);
}

/* As with the agent: beside a sparkctl that runs from its build tree, else relative to it, else as configured. */
static bool group_folder(char *path, size_t size)
{
	static const char *const beside[] = { "groups", "../groups", "../share/spark/groups" };
	char own[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[len > 0 ? len : 0] = '\0';
	for (size_t i = 0; strrchr(own, '/') && i < ARRAY_SIZE(beside); i++) {
		int n = snprintf(path, size, "%.*s/%s", (int)(strrchr(own, '/') - own), own, beside[i]);

		if (n > 0 && (size_t)n < size && access(path, R_OK | X_OK) == 0)
			return true;
	}
	snprintf(path, size, "%s", PKGDATADIR "/groups");
	return access(path, R_OK | X_OK) == 0;
}

static int group_is_file(const struct dirent *entry)
{
	return group_has_suffix(entry->d_name);
}

int group_names(struct opt_list *list)
{
	char folder[PATH_MAX];
	struct dirent **found = NULL;
	int n = group_folder(folder, sizeof(folder)) ? scandir(folder, &found, group_is_file, alphasort) : 0, err = 0;

	for (int i = 0; i < n; i++) {
		found[i]->d_name[strlen(found[i]->d_name) - sizeof(group_suffix) + 1] = '\0';
		err = err ? err : opt_list_add_whole(list, found[i]->d_name);
		free(found[i]);
	}
	free(found);
	return err || (n < 0 && errno == ENOMEM) ? error("out of memory") : 0;
}

static int group_read(struct group *group, const char *path)
{
	char *text = malloc(GROUP_FILE_MAX + 1);
	FILE *file = text ? fopen(path, "re") : NULL;
	size_t len = file ? fread(text, 1, GROUP_FILE_MAX + 1, file) : 0;
	int ret;

	if (!text)
		ret = error("out of memory");
	else if (!file || ferror(file))
		ret = error("cannot read the group %s: %s", path, strerror(errno));
	else if (len > GROUP_FILE_MAX)
		ret = error("%s: a group has no more than %d bytes", path, GROUP_FILE_MAX);
	else
		ret = group_parse(group, path, text, len);
	if (file)
		fclose(file);
	free(text);
	return ret;
}

/* Case makes no difference to what is near. */
static bool group_is_near(const char *name, const char *word)
{
	char a[64], b[64];
	size_t len = strlen(word);

	if (strlen(name) >= sizeof(a) || len >= sizeof(b))
		return false;
	for (size_t i = 0; i <= strlen(name); i++)
		a[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 'a' + 'A' : name[i]);
	for (size_t i = 0; i <= len; i++)
		b[i] = (char)(word[i] >= 'a' && word[i] <= 'z' ? word[i] - 'a' + 'A' : word[i]);
	return text_distance(a, b) <= (len < 4 ? 1 : 2) || (len >= 2 && !strncmp(a, b, len));
}

static int group_unknown(const char *word, const struct opt_list *names)
{
	char near[200] = "";

	for (size_t i = 0; i < names->n; i++) {
		size_t len = strlen(near);

		if (group_is_near(names->item[i], word))
			snprintf(near + len, sizeof(near) - len, "%s%s", len ? " or " : "; did you mean ", names->item[i]);
	}
	if (near[0])
		return error("there is no group '%s'%s?", word, near);
	return error("there is no group '%s'; see sparkctl list groups", word);
}

int group_load(struct group *group, const char *word)
{
	char folder[PATH_MAX], path[PATH_MAX + 300];
	struct opt_list names = { .n = 0 };
	bool known = false;
	int ret;

	*group = (struct group){ .name = NULL };
	if (strchr(word, '/') || group_has_suffix(word))
		return group_read(group, word);
	if (group_names(&names))
		return -1;
	for (size_t i = 0; i < names.n; i++)
		known = known || !strcmp(names.item[i], word);
	if (known && group_folder(folder, sizeof(folder))) {
		snprintf(path, sizeof(path), "%s/%.255s%s", folder, word, group_suffix);
		ret = group_read(group, path);
	} else {
		ret = group_unknown(word, &names);
	}
	opt_list_free(&names);
	return ret;
}
