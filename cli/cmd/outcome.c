/* SPDX-License-Identifier: MIT */
/* Outcomes on standard output; see outcome.h. Called by the commands doctor and list. */
#include "cli/cmd/outcome.h"

#include <string.h>
#include <unistd.h>

#include "cli/term.h"
#include "cli/text.h"

enum { OUTCOME_HERE = 6, OUTCOME_NARROW = 60, OUTCOME_COST = 64 };

void outcome_layout_init(struct outcome_layout *layout, size_t name, bool color)
{
	layout->name = name + 1;
	layout->width = term_width(STDOUT_FILENO);
	layout->color = color;
	layout->indent = layout->width && layout->width < OUTCOME_NARROW ?
		2 : layout->name + OUTCOME_HERE;
}

void outcome_print_head(const struct outcome_layout *layout, const char *what)
{
	fputs(term_style(layout->color, STYLE_STRONG), stdout);
	text_pad(stdout, what, layout->name);
	printf("here%s%s\n", layout->indent < layout->name ? "" : "  because",
		term_style(layout->color, STYLE_PLAIN));
}

static void outcome_print_remedy(const struct outcome_layout *layout, const char *remedy)
{
	fputs(term_style(layout->color, STYLE_ACCENT), stdout);
	fputs("\xe2\x86\x92 ", stdout);
	text_wrap(stdout, remedy, layout->indent + 2, layout->width);
	fputs(term_style(layout->color, STYLE_PLAIN), stdout);
}

void outcome_print_texts(const struct outcome_layout *layout, const struct outcome *outcome)
{
	char because[4 * sizeof(outcome->because) + OUTCOME_COST], remedy[4 * sizeof(outcome->remedy)];
	size_t together;

	text_escape(because, sizeof(because) - OUTCOME_COST, outcome->because, strlen(outcome->because));
	if (outcome->call_ns > 0 && outcome->available == CAPS_NO)
		snprintf(because + strlen(because), OUTCOME_COST, "; a read(2) takes %.0f ns", outcome->call_ns);
	text_escape(remedy, sizeof(remedy), outcome->remedy, strlen(outcome->remedy));
	together = layout->indent + text_width(because) + 4 + text_width(remedy);
	if (remedy[0] && (!layout->width || together <= layout->width)) {
		printf("%s  ", because);
		outcome_print_remedy(layout, remedy);
		return;
	}
	text_wrap(stdout, because, layout->indent, layout->width);
	if (remedy[0]) {
		printf("%*s", (int)layout->indent, "");
		outcome_print_remedy(layout, remedy);
	}
}

void outcome_shorten(struct outcome *outcome, const struct outcome *earlier, const char *name)
{
	if (!outcome->remedy[0] || outcome->available != earlier->available ||
	    strcmp(outcome->because, earlier->because))
		return;
	snprintf(outcome->because, sizeof(outcome->because), "as %s", name);
	outcome->remedy[0] = '\0';
}

void outcome_print_row(const struct outcome_layout *layout, const char *name,
	const struct outcome *outcome)
{
	text_pad(stdout, name, layout->name);
	if (layout->indent < layout->name)
		printf("%s\n%*s", caps_available_name(outcome->available), (int)layout->indent, "");
	else
		text_pad(stdout, caps_available_name(outcome->available), OUTCOME_HERE);
	outcome_print_texts(layout, outcome);
}
