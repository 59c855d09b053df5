/* SPDX-License-Identifier: MIT */
/* Runs under different limits of memory as comma-separated values: a value and its state in each column, as of reports. */
#include "cli/output/sweep.h"

#include <inttypes.h>
#include <string.h>

int sweep_csv(FILE *file, const struct sweep *sweep)
{
	fputs("memory_max,out_of_memory,timeout,status,signal,knee", file);
	for (size_t i = 0; i < SWEEP_CELLS; i++)
		fprintf(file, ",%s,%s.state", sweep_cell_names[i], sweep_cell_names[i]);
	fputs("\r\n", file);
	for (size_t k = 0; k < sweep->nrows; k++) {
		const struct sweep_row *row = &sweep->rows[k];

		fprintf(file, "%" PRIu64 ",%d,%d,", row->limit, sweep_killed(row), row->timeout);
		if (row->signal)
			fprintf(file, ",%d", row->signal);
		else
			fprintf(file, "%d,", row->status);
		fprintf(file, ",%d", row == sweep->knee);
		for (size_t i = 0; i < SWEEP_CELLS; i++) {
			fputc(',', file);
			if (cell_has_value(&row->cells[i]))
				fprintf(file, !strcmp(sweep_cell_units[i], "ns") ? "%.0f" : "%.15g", row->cells[i].value);
			fprintf(file, ",%s", cell_state_name(row->cells[i].state));
		}
		fputs("\r\n", file);
	}
	return 0;
}
