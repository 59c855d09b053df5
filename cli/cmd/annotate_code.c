/* SPDX-License-Identifier: MIT */
/* The instructions of a function, where the file with its code is still the one that ran. */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/annotate.h"
#include "cli/symbols/code.h"
#include "cli/symbols/disasm.h"
#include "cli/text.h"

enum { CODE_MOST = 1 << 20, CODE_AROUND = 6, CODE_PLACE = 10 };

/* What is known of one instruction. */
struct code_row {
	struct stacks_sum self, total;
	char *file;                  /* where it comes from; NULL: not known */
	u32 line;
};

/* A function's instructions. */
struct annotate_code {
	struct annotate *annotate;
	struct code *code;
	u64 start, size;
	struct disasm_instruction *instructions;
	struct code_row *rows;
	size_t n;
};

static const struct samples_frame *frame_of(const struct annotate *annotate, const struct stacks_address *address)
{
	return &annotate->samples->frames[address->frame];
}

static int code_missing(const struct annotate *annotate, u32 object, const char *why)
{
	const char *path = annotate->samples->objects[object].path;
	size_t size = 4 * strlen(path) + 1;
	char *name = malloc(size), *text = NULL;
	int err = name ? 0 : -1;

	if (!err) {
		text_escape(name, size, path, strlen(path));
		err = asprintf(&text, "no instructions of %s: %s", name, why) < 0 ? -1 : 0;
	}
	if (!err) {
		fputc('\n', annotate->file);
		text_wrap(annotate->file, text, 0, annotate->width);
		free(text);
	}
	free(name);
	return err;
}

/* ---- one function ---------------------------------------------------------------------------------- */

static int code_disassemble(struct annotate_code *code, const char **why)
{
	u8 *bytes;
	int err;

	*why = "the function is too large";
	if (!code->size || code->size > CODE_MOST)
		return -1;
	*why = "out of memory";
	bytes = malloc(code->size);
	if (!bytes)
		return -1;
	*why = "its code is not in the file";
	err = code_read(code->code, code->start, bytes, code->size) ?
	      disasm(code_machine(code->code), bytes, code->size, code->start, &code->instructions, &code->n, why) : -1;
	free(bytes);
	return err;
}

static void code_line_found(void *data, size_t i, const char *file, u32 line)
{
	struct annotate_code *code = data;

	free(code->rows[i].file);
	code->rows[i].file = strdup(file);
	code->rows[i].line = line;
}

/* Where there is no debug info here, the recording knows the lines of samples. */
static void code_name_row(struct annotate_code *code, size_t i, const struct samples_frame *frame)
{
	const struct samples_line *line = &code->annotate->samples->lines[frame->first_line];

	if (frame->nlines && line->file != SAMPLES_NONE && !code->rows[i].file)
		code_line_found(code, i, stacks_string(code->annotate->stacks, line->file), line->line);
}

/* A return address less 1 lies within the call. */
static void code_count(struct annotate_code *code, u32 object, const struct stacks_address *addresses, size_t n)
{
	size_t i, k = 0;

	for (i = 0; i < n; i++) {
		const struct samples_frame *frame = frame_of(code->annotate, &addresses[i]);

		if (frame->object != object || frame->address < code->start || frame->address - code->start >= code->size)
			continue;
		while (k + 1 < code->n && code->instructions[k + 1].address <= frame->address)
			k++;
		code->rows[k].self.count += addresses[i].self.count;
		code->rows[k].self.weight += addresses[i].self.weight;
		code->rows[k].total.count += addresses[i].total.count;
		code->rows[k].total.weight += addresses[i].total.weight;
		code_name_row(code, k, frame);
	}
}

/* Where each instruction comes from, as far as debug info tells. */
static int code_find_lines(struct annotate_code *code)
{
	u64 *addresses = calloc(code->n + 1, sizeof(*addresses));
	size_t i;
	int err;

	if (!addresses)
		return -1;
	for (i = 0; i < code->n; i++)
		addresses[i] = code->instructions[i].address;
	err = code_lines(code->code, addresses, code->n, code_line_found, code);
	free(addresses);
	return err ? -1 : 0;
}

static int code_print_line(struct annotate_code *code, size_t i)
{
	static const struct stacks_sum none;
	const struct code_row *row = &code->rows[i];
	const char *slash = strrchr(row->file, '/');
	char *source = annotate_source_line(code->annotate, row->file, row->line), *text;
	int err = asprintf(&text, "%s:%u%s%s", slash ? slash + 1 : row->file, row->line, source ? "  " : "",
			   source ? source + strspn(source, " ") : "") < 0 ? -1 : 0;

	if (!err) {
		err = annotate_print(code->annotate, &none, &none, "", CODE_PLACE, text);
		free(text);
	}
	free(source);
	return err;
}

static bool code_other_line(const struct code_row *row, const struct code_row *before)
{
	return row->file && (!before || row->line != before->line || strcmp(row->file, before->file) != 0);
}

static int code_print_rows(struct annotate_code *code, const bool *show)
{
	const struct code_row *before = NULL;
	char place[32];
	size_t i;
	int err = 0;

	for (i = 0; !err && i < code->n; i++) {
		if (!show[i]) {
			if (i && show[i - 1])
				annotate_gap(code->annotate, CODE_PLACE);
			continue;
		}
		if (code_other_line(&code->rows[i], before))
			err = code_print_line(code, i);
		before = code->rows[i].file ? &code->rows[i] : before;
		snprintf(place, sizeof(place), "%llx", (unsigned long long)code->instructions[i].address);
		if (!err)
			err = annotate_print(code->annotate, &code->rows[i].self, &code->rows[i].total, place, CODE_PLACE,
					     code->instructions[i].text);
	}
	return err;
}

static int code_print(struct annotate_code *code, const char *path)
{
	bool *hot = calloc(code->n + 1, sizeof(*hot)), *show = calloc(code->n + 1, sizeof(*show));
	int err = hot && show ? 0 : -1;
	size_t i;

	for (i = 0; !err && i < code->n; i++)
		hot[i] = code->annotate->verbose || code->rows[i].total.count;
	if (!err) {
		annotate_around(show, hot, code->n, CODE_AROUND);
		fputc('\n', code->annotate->file);
		err = annotate_print(code->annotate, NULL, NULL, "address", CODE_PLACE, path) || code_print_rows(code, show) ? -1 : 0;
	}
	free(hot);
	free(show);
	return err;
}

static void code_fini(struct annotate_code *code)
{
	size_t i;

	for (i = 0; code->rows && i < code->n; i++)
		free(code->rows[i].file);
	free(code->rows);
	free(code->instructions);
}

static int code_function_print(struct annotate_code *code, u32 object, const struct stacks_address *addresses, size_t n)
{
	const char *why;
	int err;

	if (code_disassemble(code, &why) != 0)
		return code_missing(code->annotate, object, why);
	code->rows = calloc(code->n + 1, sizeof(*code->rows));
	err = code->rows && code_find_lines(code) == 0 ? 0 : -1;
	if (!err) {
		code_count(code, object, addresses, n);
		err = code_print(code, code->annotate->samples->objects[object].path);
	}
	code_fini(code);
	return err;
}

/* ---- all of an object ------------------------------------------------------------------------------ */

/* The addresses of one object, ascending: of each function that the asked one is in, once. */
static int code_object_print(struct annotate *annotate, struct code *code, u32 object,
			     const struct stacks_address *addresses, size_t n)
{
	u64 done = 0;                /* all up to there, + 1 */
	bool uncovered = false;
	int err = 0;
	size_t i;

	for (i = 0; !err && i < n; i++) {
		struct annotate_code function = { .annotate = annotate, .code = code };
		u64 address = frame_of(annotate, &addresses[i])->address;

		if (!addresses[i].of_function || (done && address < done))
			continue;
		if (!code_function(code, address, &function.start, &function.size)) {
			uncovered = true;
			continue;
		}
		done = function.start + function.size;
		err = code_function_print(&function, object, addresses, n);
	}
	if (!err && uncovered)
		err = code_missing(annotate, object, "its symbols do not tell where the function begins and ends");
	return err;
}

static int code_object(struct annotate *annotate, u32 object, const struct stacks_address *addresses, size_t n)
{
	const struct samples_object *known = &annotate->samples->objects[object];
	const char *why = "its code is not in a file";
	struct code *code;
	int err;

	code = known->kind == SAMPLES_FILE ? code_open(known->path, known->build_id, &why) : NULL;
	if (!code)
		return code_missing(annotate, object, why);
	err = code_object_print(annotate, code, object, addresses, n);
	code_close(code);
	return err;
}

int annotate_print_code(struct annotate *annotate)
{
	static const struct stacks_scope whole = { .whole = true };
	struct stacks_address *addresses;
	size_t n, i, next;
	bool wanted;
	int err = stacks_addresses(annotate->stacks, &whole, annotate->function, &addresses, &n);

	if (err)
		return -1;
	for (i = 0; !err && i < n; i = next) {
		u32 object = frame_of(annotate, &addresses[i])->object;

		wanted = false;
		for (next = i; next < n && frame_of(annotate, &addresses[next])->object == object; next++)
			wanted |= addresses[next].of_function;
		if (wanted)
			err = code_object(annotate, object, addresses + i, next - i);
	}
	free(addresses);
	return err;
}
