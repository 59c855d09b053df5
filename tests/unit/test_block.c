/* SPDX-License-Identifier: MIT */
/* analyze/block and what the session knows of it: lines of diskstats of all kernels, pairs of requests, tracepoints. */
#include "cli/analyze/block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/session/blockio.h"
#include "suite.h"

/* ---- diskstats ------------------------------------------------------------------------------------- */

static struct block block;

/* From a text that lies at the end of its memory. */
static struct block_stats parsed(const char *text, u64 time_ns)
{
	size_t size = strlen(text);
	char *copy = malloc(size ? size : 1);
	struct block_stats stats;

	memcpy(copy, text, size);
	ck_assert_int_eq(block_stats_parse(&stats, copy, size), 0);
	free(copy);
	stats.time_ns = time_ns;
	return stats;
}

static enum block_kind kind_of(const struct block_stat *stat)
{
	return strcmp(stat->name, "sda") ? BLOCK_PARTITION : BLOCK_DISK;
}

/* In 2 s. */
static void between(const char *before, const char *now)
{
	struct block_stats b = parsed(before, 1000000000), n = parsed(now, 3000000000);

	ck_assert_int_eq(block_between(&block, &b, &n, kind_of), 0);
	block_stats_free(&b);
	block_stats_free(&n);
}

static void has(const struct cell *cell, double value, enum cell_state state)
{
	ck_assert_int_eq(cell->state, state);
	if (cell_has_value(cell))
		ck_assert_double_eq_tol(cell->value, value, 1e-9 * (1 + fabs(value)));
}

START_TEST(test_layouts)
{
	static const struct { const char *text; u32 fields; } rows[] = {
		{ "   8       0 sda 10 20 30 40 50 60 70 80 0 90 100\n", 11 },
		{ "8 0 sda 10 20 30 40 50 60 70 80 0 90 100 1 2 3 4\n", 15 },
		{ "8 0 sda 10 20 30 40 50 60 70 80 0 90 100 1 2 3 4 5 6\n", 17 },
		{ "8 0 sda 10 20 30 40 50 60 70 80 0 90 100 1 2 3 4 5 6 7 8 9\n", 17 },
		{ "8 1 sda1 1 2 3 4\n", 4 },
		{ "8 0 sda 10 x 30\n", 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct block_stats stats = parsed(rows[i].text, 0);

		ck_assert_uint_eq(stats.n, 1);
		ck_assert_uint_eq(stats.list[0].major, 8);
		ck_assert_uint_eq(stats.list[0].nfields, rows[i].fields);
		block_stats_free(&stats);
	}
}
END_TEST

START_TEST(test_damaged)
{
	static const char *const texts[] = {
		"", "\n\n", "8 0 sda", "8 0 sda\n", "x 0 sda 1\n", "8 x sda 1\n", "8 0 sda x\n", "8 0 sda 99999999999999999999999\n",
		"99999999999 0 sda 1\n", "8 0 sda 1 2 3",
		"8 0 a-name-that-is-longer-than-any-that-a-kernel-gives-to-a-device-of-whatever-kind 1 2\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct block_stats stats = parsed(texts[i], 0);

		ck_assert_uint_eq(stats.n, 0);
		block_stats_free(&stats);
	}
}
END_TEST

START_TEST(test_differences)
{
	const struct block_device *d;

	between("8 0 sda 100 0 1000 500 10 0 80 5 0 1000 2000 0 0 0 0 0 0\n",
		"8 0 sda 300 7 1800 1500 10 0 80 5 0 1500 3600 4 0 32 400 8 1\n");
	ck_assert_uint_eq(block.ndevices, 1);
	d = &block.devices[0];
	ck_assert_int_eq(d->kind, BLOCK_DISK);
	has(&d->side[BLOCK_READ][BLOCK_REQUESTS], 200, CELL_COUNTED);
	has(&d->side[BLOCK_READ][BLOCK_MERGED], 7, CELL_COUNTED);
	has(&d->side[BLOCK_READ][BLOCK_BYTES], 800 * 512, CELL_COUNTED);
	has(&d->side[BLOCK_READ][BLOCK_RATE], 100, CELL_COUNTED);
	has(&d->side[BLOCK_READ][BLOCK_MEAN], 5e6, CELL_COUNTED);
	has(&d->side[BLOCK_WRITE][BLOCK_REQUESTS], 0, CELL_COUNTED);
	has(&d->side[BLOCK_WRITE][BLOCK_MEAN], 0, CELL_NOT_COUNTED);
	has(&d->side[BLOCK_DISCARD][BLOCK_MEAN], 100e6, CELL_COUNTED);
	/* A ms in all is no time for eight, nor nothing. */
	has(&d->side[BLOCK_FLUSH][BLOCK_MEAN], 125000, CELL_ESTIMATE);
	has(&d->side[BLOCK_FLUSH][BLOCK_BYTES], 0, CELL_NOT_COUNTED);
	has(&d->cell[BLOCK_BUSY], 25, CELL_ESTIMATE);
	has(&d->cell[BLOCK_IN_FLIGHT], 0.8, CELL_COUNTED);
	between("8 0 sda 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", "8 0 sda 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	has(&block.devices[0].side[BLOCK_READ][BLOCK_MEAN], 0, CELL_UNAVAILABLE);
	block_fini(&block);
}
END_TEST

/* Fields that an old kernel has not, devices that come, go or begin anew, and ms that came round. */
START_TEST(test_changes)
{
	between("8 0 sda 1 0 0 4294967290 0 0 0 0 0 0 0\n", "8 0 sda 2 0 0 94 0 0 0 0 0 0 0\n");
	has(&block.devices[0].side[BLOCK_READ][BLOCK_MEAN], 100e6, CELL_COUNTED);
	has(&block.devices[0].side[BLOCK_DISCARD][BLOCK_REQUESTS], 0, CELL_UNAVAILABLE);
	has(&block.devices[0].side[BLOCK_FLUSH][BLOCK_MEAN], 0, CELL_UNAVAILABLE);
	between("8 0 sda 9 0 0 500 9 0 0 0 0 0 0\n", "8 0 sda 2 0 0 900 9 0 0 0 0 0 0\n");
	has(&block.devices[0].side[BLOCK_READ][BLOCK_REQUESTS], 0, CELL_UNAVAILABLE);
	has(&block.devices[0].side[BLOCK_WRITE][BLOCK_REQUESTS], 0, CELL_UNAVAILABLE);
	has(&block.devices[0].cell[BLOCK_BUSY], 0, CELL_UNAVAILABLE);
	between("8 0 sda 9 0 0 0 0 0 0 0 0 0 0\n8 16 sdb 1 0 0 0 0 0 0 0 0 0 0\n",
		"8 0 sda 9 0 0 0 0 0 0 0 0 0 0\n8 32 sdc 7 0 0 0 0 0 0 0 0 0 0\n");
	ck_assert_uint_eq(block.ndevices, 2);
	ck_assert(!block_active(&block, &block.devices[0]));
	ck_assert(block_active(&block, &block.devices[1]));
	has(&block.devices[1].side[BLOCK_READ][BLOCK_REQUESTS], 7, CELL_COUNTED);
	/* The same number under another name is another device. */
	between("8 0 sda 9 0 0 0 0 0 0 0 0 0 0\n", "8 0 sdb 11 0 0 0 0 0 0 0 0 0 0\n");
	has(&block.devices[0].side[BLOCK_READ][BLOCK_REQUESTS], 11, CELL_COUNTED);
	between("8 0 sda 1 2 3 4\n", "8 0 sda 2 4 6 8\n");
	has(&block.devices[0].cell[BLOCK_IN_FLIGHT], 0, CELL_UNAVAILABLE);
	block_fini(&block);
}
END_TEST

/* ---- pairs ----------------------------------------------------------------------------------------- */

static struct block_end end_of(u64 time_ns, u64 sector, u32 sectors)
{
	return (struct block_end){ .time_ns = time_ns, .major = 8, .direction = BLOCK_READ, .sector = sector, .sectors = sectors };
}

static void issue(struct block_pairs *pairs, u64 time_ns, u64 sector, u32 sectors)
{
	const struct block_end end = end_of(time_ns, sector, sectors);

	block_issue(pairs, &end);
}

static void complete(struct block_pairs *pairs, u64 time_ns, u64 sector, u32 sectors)
{
	const struct block_end end = end_of(time_ns, sector, sectors);

	block_complete(pairs, &end);
}

static const struct block_latency *reads(void)
{
	return &block_traced(&block, 8, 0)->latency[BLOCK_READ];
}

START_TEST(test_pairs)
{
	struct block_pairs *pairs = block_pairs_new(&block);
	struct block_end other = end_of(50, 100, 8);

	issue(pairs, 10, 100, 8);
	/* Another direction, and another device, at the same place. */
	other.direction = BLOCK_WRITE;
	block_issue(pairs, &other);
	other.minor = 1;
	block_issue(pairs, &other);
	complete(pairs, 1010, 100, 8);
	issue(pairs, 2000, 100, 8);
	complete(pairs, 5000, 100, 8);
	ck_assert_uint_eq(reads()->paired, 2);
	ck_assert_uint_eq(reads()->least, 1000);
	ck_assert_uint_eq(reads()->greatest, 3000);
	ck_assert_double_eq(reads()->sum, 4000);
	/* The middle of a bucket. */
	ck_assert_double_eq_tol(block_quantile(reads(), 990).value, 3000, 3000.0 / 64);
	/* In pieces it ends with the last. */
	issue(pairs, 10000, 0, 16);
	complete(pairs, 11000, 0, 8);
	ck_assert_uint_eq(reads()->paired, 2);
	complete(pairs, 19000, 8, 8);
	ck_assert_uint_eq(reads()->paired, 3);
	ck_assert_uint_eq(reads()->split, 1);
	ck_assert_uint_eq(reads()->greatest, 9000);
	block_pairs_end(pairs);
	ck_assert_uint_eq(block_traced(&block, 8, 1)->latency[BLOCK_WRITE].left[BLOCK_LEFT_OPEN], 1);
	ck_assert_uint_eq(block_traced(&block, 8, 0)->latency[BLOCK_WRITE].left[BLOCK_LEFT_OPEN], 1);
	block_pairs_free(pairs);
	block_fini(&block);
}
END_TEST

START_TEST(test_unpaired)
{
	struct block_pairs *pairs = block_pairs_new(&block);
	struct block_end end = end_of(30, 700, 8);

	complete(pairs, 10, 5, 8);
	ck_assert_uint_eq(reads()->left[BLOCK_LEFT_BEGUN], 1);
	/* Which of two ends is whose nobody knows. */
	issue(pairs, 20, 100, 8);
	issue(pairs, 30, 100, 8);
	complete(pairs, 40, 100, 8);
	complete(pairs, 50, 100, 8);
	ck_assert_uint_eq(reads()->left[BLOCK_LEFT_ALIKE], 2);
	issue(pairs, 60, 200, 8);
	complete(pairs, 70, 200, 16);
	ck_assert_uint_eq(reads()->left[BLOCK_LEFT_RESIZED], 1);
	block_issue(pairs, &end);
	block_requeue(pairs, &end);
	ck_assert_uint_eq(reads()->left[BLOCK_LEFT_REQUEUED], 1);
	block_issue(pairs, &end);
	end.error = -5;
	block_complete(pairs, &end);
	ck_assert_uint_eq(reads()->left[BLOCK_LEFT_FAILED], 1);
	/* What is open while records are lost, whether its end comes or not; what begins afterwards is sure again. */
	issue(pairs, 80, 300, 8);
	issue(pairs, 81, 400, 8);
	block_lose(pairs);
	complete(pairs, 90, 300, 8);
	issue(pairs, 100, 300, 8);
	complete(pairs, 110, 300, 8);
	ck_assert_uint_eq(reads()->paired, 1);
	/* No request, but the kernel's own end of an empty one. */
	complete(pairs, 120, 0, 0);
	issue(pairs, 130, 500, 8);
	block_pairs_end(pairs);
	ck_assert_uint_eq(reads()->left[BLOCK_LEFT_LOST], 2);
	ck_assert_uint_eq(reads()->left[BLOCK_LEFT_OPEN], 1);
	ck_assert_uint_eq(reads()->left[BLOCK_LEFT_BEGUN], 1);
	block_pairs_free(pairs);
	block_fini(&block);
}
END_TEST

/* More than there is room for: none is paired with another's end, and none is forgotten. */
START_TEST(test_many)
{
	enum { N = 40000 };
	struct block_pairs *pairs = block_pairs_new(&block);
	u64 all;

	for (u32 i = 0; i < N; i++)
		issue(pairs, i, 8ull * i, 8);
	for (u32 i = 0; i < N; i++)
		complete(pairs, N + 2 * i, 8ull * i, 8);
	all = reads()->paired + reads()->left[BLOCK_LEFT_OPEN];
	ck_assert_uint_eq(all, N);
	ck_assert_uint_eq(reads()->left[BLOCK_LEFT_BEGUN], reads()->left[BLOCK_LEFT_OPEN]);
	ck_assert_uint_ge(reads()->paired, 10000);
	ck_assert_uint_eq(reads()->least, N);
	block_pairs_free(pairs);
	block_fini(&block);
}
END_TEST

/* ---- tracepoints ----------------------------------------------------------------------------------- */

static const char format[] =
	"name: block_rq_complete\nID: 2107\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n"
	"\nprint fmt: \"%d,%d %s\", REC->dev, REC->sector, REC->nr_sector, REC->rwbs\n";

START_TEST(test_format)
{
	struct blockio_format f;
	char text[sizeof(format)];

	ck_assert_ptr_null(blockio_format(format, &f));
	ck_assert_uint_eq(f.id, 2107);
	ck_assert_uint_eq(f.dev, 8);
	ck_assert_uint_eq(f.sector, 16);
	ck_assert_uint_eq(f.sectors, 24);
	ck_assert_uint_eq(f.rwbs, 34);
	ck_assert_uint_eq(f.rwbs_size, 10);
	ck_assert_uint_eq(f.error, 28);
	ck_assert_str_eq(blockio_format("", &f), "ID");
	ck_assert_str_eq(blockio_format("ID: 5\n", &f), "dev");
	strcpy(text, format);
	memcpy(strstr(text, "rwbs["), "rwba[", 5);
	ck_assert_str_eq(blockio_format(text, &f), "rwbs");
	/* Of older kernels, at their issue. */
	strcpy(text, format);
	memcpy(strstr(text, "error"), "errno", 5);
	ck_assert_ptr_null(blockio_format(text, &f));
	ck_assert_uint_eq(f.error, 0);
}
END_TEST

START_TEST(test_sample)
{
	struct blockio b = { .nrings = 0 };
	u8 raw[44] = { 0 };
	const u16 id = 2107;
	const u32 dev = 254 << 20 | 3, sectors = 8;
	const u64 sector = 4096;
	struct block_end end;

	ck_assert_ptr_null(blockio_format(format, &b.format[BLOCKIO_COMPLETE]));
	memcpy(raw, &id, sizeof(id));
	memcpy(raw + 8, &dev, sizeof(dev));
	memcpy(raw + 16, &sector, sizeof(sector));
	memcpy(raw + 24, &sectors, sizeof(sectors));
	memcpy(raw + 34, "WSM", 4);
	ck_assert_int_eq(blockio_parse(&b, raw, sizeof(raw), &end), BLOCKIO_COMPLETE);
	ck_assert_uint_eq(end.major, 254);
	ck_assert_uint_eq(end.minor, 3);
	ck_assert_uint_eq(end.sector, 4096);
	ck_assert_uint_eq(end.sectors, 8);
	ck_assert_int_eq(end.direction, BLOCK_WRITE);
	for (u32 size = 0; size < sizeof(raw); size++) {
		u8 *cut = malloc(size ? size : 1);

		memcpy(cut, raw, size);
		ck_assert_int_eq(blockio_parse(&b, cut, size, &end), BLOCKIO_EVENTS);
		free(cut);
	}
	raw[0]++;
	ck_assert_int_eq(blockio_parse(&b, raw, sizeof(raw), &end), BLOCKIO_EVENTS);
}
END_TEST

START_TEST(test_letters)
{
	static const struct { const char *rwbs; enum block_direction direction; } rows[] = {
		{ "R", BLOCK_READ }, { "RA", BLOCK_READ }, { "RM", BLOCK_READ }, { "W", BLOCK_WRITE }, { "WFS", BLOCK_WRITE },
		{ "FWFS", BLOCK_WRITE }, { "DS", BLOCK_DISCARD }, { "DE", BLOCK_DISCARD }, { "FF", BLOCK_FLUSH }, { "F", BLOCK_FLUSH },
		{ "FS", BLOCK_FLUSH }, { "N", BLOCK_DIRECTIONS }, { "ZR", BLOCK_DIRECTIONS }, { "", BLOCK_DIRECTIONS },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_int_eq(block_letters(rows[i].rwbs, strlen(rows[i].rwbs) + 1), rows[i].direction);
	ck_assert_int_eq(block_letters("F", 1), BLOCK_FLUSH);
	ck_assert_int_eq(block_letters("R", 0), BLOCK_DIRECTIONS);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("block");

	tcase_add_test(t, test_layouts);
	tcase_add_test(t, test_damaged);
	tcase_add_test(t, test_differences);
	tcase_add_test(t, test_changes);
	tcase_add_test(t, test_pairs);
	tcase_add_test(t, test_unpaired);
	tcase_add_test(t, test_many);
	tcase_add_test(t, test_format);
	tcase_add_test(t, test_sample);
	tcase_add_test(t, test_letters);
	return suite_run("block", t);
}
