/* SPDX-License-Identifier: MIT */
/*
 * sqlbench - a small SQLite workload whose phases are marked for Spark. Copy from it what you need.
 *
 *	cc -O2 -o sqlbench sqlbench.c -lsqlite3
 *	sparkctl run -- ./sqlbench
 *
 * It creates a database of customers and orders, fills it in transactions, indexes it, asks 2,000
 * queries and vacuums it. It shows the forms of markers side by side:
 *
 *	SPARK_SCOPE                        a region that ends with its block, also on an early return
 *	spark_region_begin, _end           a region around a few lines
 *	spark_begin, spark_end             the same by handle, the quickest: for what is called often
 *	spark_region_units                 how much work a region did, for rates
 *	spark_metric                       a value of the program's own, here pages missed by the cache
 *	spark_window_begin, _end           a phase of the whole process
 *
 * Markers sleep while nobody measures: run alone, the program does the same and prints the same.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <spark/spark.h>
#include <sqlite3.h>

enum { BATCH = 10000, QUERIES = 2000, CITIES = 500, ORDERS_PER_CUSTOMER = 100 };

struct bench {
	sqlite3 *db;
	int orders;
	int customers;
	uint64_t random;	/* state of a generator: the same data in every run */
	uint64_t checksum;	/* over all values that the queries gave */
	unsigned long results;	/* rows that the queries gave */
};

/* Handles cost the agent no search by name. They live in static storage; all threads may use them. */
static struct spark_region insert_region = SPARK_REGION("insert");

/* Each kind of query has its handle beside it; ?1 is a random number. */
static struct query {
	struct spark_region region;
	const char *sql;
	int part;		/* of ten queries, how many are of this kind */
} queries[] = {
	{ SPARK_REGION("lookup"),
	  "SELECT id, amount FROM orders WHERE customer = 1 + ?1 % (SELECT max(id) FROM customers)",
	  7 },
	{ SPARK_REGION("join"),
	  "SELECT c.id, o.amount FROM customers c JOIN orders o ON o.customer = c.id "
	  "WHERE c.city = ?1 % 500 ORDER BY o.amount DESC LIMIT 20",
	  2 },
	{ SPARK_REGION("aggregate"),
	  "WITH start(id) AS (SELECT ?1 % max(id) FROM orders) "
	  "SELECT o.item % 50, count(*), sum(o.amount) FROM start s, orders o "
	  "WHERE o.id BETWEEN s.id AND s.id + 19999 GROUP BY 1",
	  1 },
};

enum { KINDS = sizeof(queries) / sizeof(queries[0]) };

/* Knuth's MMIX generator; its high bits are the good ones. */
static int bench_random(struct bench *bench)
{
	bench->random = bench->random * 6364136223846793005u + 1442695040888963407u;
	return (int)(bench->random >> 34);
}

static int bench_fail(const struct bench *bench, const char *what)
{
	fprintf(stderr, "sqlbench: %s: %s\n", what, sqlite3_errmsg(bench->db));
	return -1;
}

static int bench_sql(struct bench *bench, const char *sql)
{
	return sqlite3_exec(bench->db, sql, NULL, NULL, NULL) ? bench_fail(bench, sql) : 0;
}

static int bench_prepare(struct bench *bench, const char *sql, sqlite3_stmt **statement)
{
	if (sqlite3_prepare_v2(bench->db, sql, -1, statement, NULL))
		return bench_fail(bench, sql);
	return 0;
}

static int bench_create(struct bench *bench)
{
	SPARK_SCOPE("create");

	return bench_sql(bench,
		"CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city INTEGER);"
		"CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, item INTEGER,"
		"                     amount INTEGER, note TEXT)");
}

static int load_customers(struct bench *bench, sqlite3_stmt *insert)
{
	char name[32];
	int i;

	for (i = 1; i <= bench->customers; i++) {
		snprintf(name, sizeof(name), "customer %d", i);
		sqlite3_bind_int(insert, 1, i);
		sqlite3_bind_text(insert, 2, name, -1, SQLITE_TRANSIENT);
		sqlite3_bind_int(insert, 3, bench_random(bench) % CITIES);
		sqlite3_step(insert);
		if (sqlite3_reset(insert))
			return bench_fail(bench, "insert a customer");
	}
	return 0;
}

static int load_order(struct bench *bench, sqlite3_stmt *insert, int id)
{
	static const char note[] = "to be sent by mail, with the invoice on paper";
	int status;

	spark_begin(&insert_region);
	sqlite3_bind_int(insert, 1, id);
	sqlite3_bind_int(insert, 2, 1 + bench_random(bench) % bench->customers);
	sqlite3_bind_int(insert, 3, bench_random(bench) % 1000);
	sqlite3_bind_int(insert, 4, bench_random(bench) % 100000);
	sqlite3_bind_text(insert, 5, note, bench_random(bench) % (int)sizeof(note), SQLITE_STATIC);
	sqlite3_step(insert);
	status = sqlite3_reset(insert);
	spark_end(&insert_region);
	return status ? bench_fail(bench, "insert an order") : 0;
}

static int load_commit(struct bench *bench)
{
	SPARK_SCOPE("commit");

	return bench_sql(bench, "COMMIT");
}

static int load_orders(struct bench *bench, sqlite3_stmt *insert)
{
	int first, id;

	for (first = 1; first <= bench->orders; first = id) {
		if (bench_sql(bench, "BEGIN"))
			return -1;
		for (id = first; id <= bench->orders && id - first < BATCH; id++)
			if (load_order(bench, insert, id))
				return -1;
		if (load_commit(bench))
			return -1;
		spark_region_units("load", (unsigned long)(id - first), "rows");
	}
	return 0;
}

/* The scope ends the region however the function is left, so an error needs no care. */
static int bench_load(struct bench *bench)
{
	SPARK_SCOPE("load");
	sqlite3_stmt *customer = NULL, *order = NULL;
	int status = -1;

	if (bench_prepare(bench, "INSERT INTO customers VALUES (?, ?, ?)", &customer) ||
	    bench_prepare(bench, "INSERT INTO orders VALUES (?, ?, ?, ?, ?)", &order))
		goto out;
	if (bench_sql(bench, "BEGIN") || load_customers(bench, customer) || load_commit(bench))
		goto out;
	status = load_orders(bench, order);
out:
	sqlite3_finalize(customer);
	sqlite3_finalize(order);
	return status;
}

static int bench_index(struct bench *bench)
{
	int status;

	spark_region_begin("index");
	status = bench_sql(bench,
		"CREATE INDEX orders_customer ON orders (customer);"
		"CREATE INDEX customers_city ON customers (city)");
	spark_region_end("index");
	return status;
}

/* Pages that were not in SQLite's cache since the last call. */
static int bench_cache_misses(struct bench *bench)
{
	int misses = 0, unused;

	sqlite3_db_status(bench->db, SQLITE_DBSTATUS_CACHE_MISS, &misses, &unused, 1);
	return misses;
}

static int query_rows(struct bench *bench, sqlite3_stmt *statement, unsigned long *rows)
{
	int column, status;

	while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
		for (column = 0; column < sqlite3_column_count(statement); column++)
			bench->checksum = bench->checksum * 31 +
				(uint64_t)sqlite3_column_int64(statement, column);
		++*rows;
	}
	return status == SQLITE_DONE ? 0 : -1;
}

static int query_ask(struct bench *bench, struct query *query, sqlite3_stmt *statement)
{
	unsigned long rows = 0;
	int status;

	spark_begin(&query->region);
	sqlite3_bind_int(statement, 1, bench_random(bench));
	status = query_rows(bench, statement, &rows);
	spark_metric("page-misses", bench_cache_misses(bench));
	spark_region_units(query->region.name, rows, "rows");
	spark_end(&query->region);

	if (status)
		bench_fail(bench, query->sql);
	sqlite3_reset(statement);
	bench->results += rows;
	return status;
}

static struct query *query_choose(struct bench *bench)
{
	int number = bench_random(bench) % 10, i;

	for (i = 0; i < KINDS - 1 && number >= queries[i].part; i++)
		number -= queries[i].part;
	return &queries[i];
}

static int bench_query(struct bench *bench)
{
	SPARK_SCOPE("query");
	sqlite3_stmt *statements[KINDS] = { NULL };
	struct query *query;
	int i, status = 0;

	for (i = 0; i < KINDS && !status; i++)
		status = bench_prepare(bench, queries[i].sql, &statements[i]);
	bench_cache_misses(bench);
	for (i = 0; i < QUERIES && !status; i++) {
		query = query_choose(bench);
		status = query_ask(bench, query, statements[query - queries]);
	}
	for (i = 0; i < KINDS; i++)
		sqlite3_finalize(statements[i]);
	return status;
}

static int bench_vacuum(struct bench *bench)
{
	SPARK_SCOPE("vacuum");

	return bench_sql(bench, "VACUUM");
}

/* Regions say where a thread was; windows bracket the whole process, and are in a table apart. */
static int bench_run(struct bench *bench)
{
	int status;

	if (bench_create(bench))
		return -1;
	spark_window_begin("load");
	status = bench_load(bench) || bench_index(bench);
	spark_window_end("load");
	if (status)
		return -1;
	spark_window_begin("query");
	status = bench_query(bench);
	spark_window_end("query");
	return status ? -1 : bench_vacuum(bench);
}

/* The database and its journal; empty: in memory. */
static char file_path[PATH_MAX], file_journal[PATH_MAX + sizeof("-journal")];

static void file_remove(void)
{
	if (!file_path[0])
		return;
	unlink(file_path);
	unlink(file_journal);
}

static void file_remove_on_signal(int number)
{
	file_remove();
	raise(number);
}

static void file_expect_signals(void)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction action = { .sa_handler = file_remove_on_signal };
	size_t i;

	/* Once: the second time the signal ends the program, as without us. */
	action.sa_flags = SA_RESETHAND | SA_NODEFER;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
}

static int file_create(void)
{
	const char *folder = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd;

	if (!folder || !*folder)
		folder = "/tmp";
	if (snprintf(path, sizeof(path), "%s/sqlbench-XXXXXX", folder) >= (int)sizeof(path)) {
		fprintf(stderr, "sqlbench: TMPDIR is too long\n");
		return -1;
	}
	fd = mkstemp(path);
	if (fd < 0) {
		fprintf(stderr, "sqlbench: cannot create a file in %s: %s\n", folder, strerror(errno));
		return -1;
	}
	close(fd);
	snprintf(file_journal, sizeof(file_journal), "%s-journal", path);
	strcpy(file_path, path);
	file_expect_signals();
	return 0;
}

static int rows_parse(const char *text, int *rows)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < 1 || value > INT_MAX - BATCH) {
		fprintf(stderr, "sqlbench: '%s' is not a number of rows\n", text);
		return -1;
	}
	*rows = (int)value;
	return 0;
}

static int options_parse(int argc, char **argv, int *rows, bool *memory)
{
	static const char usage[] =
		"Usage: sqlbench [-m] [-n ROWS]\n"
		"  -m       keep the database in memory instead of a file in $TMPDIR\n"
		"  -n ROWS  insert so many rows (100000)\n";
	int option;

	while ((option = getopt(argc, argv, "hmn:")) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			exit(0);
		}
		if (option == 'm')
			*memory = true;
		else if (option != 'n' || rows_parse(optarg, rows))
			goto wrong;
	}
	if (optind == argc)
		return 0;
wrong:
	fputs(usage, stderr);
	return -1;
}

int main(int argc, char **argv)
{
	struct bench bench = { .orders = 100000, .random = 1 };
	bool memory = false;
	int status = 1;

	if (options_parse(argc, argv, &bench.orders, &memory))
		return 2;
	bench.customers = 1 + bench.orders / ORDERS_PER_CUSTOMER;
	if (!memory && file_create())
		return 1;
	if (sqlite3_open(memory ? ":memory:" : file_path, &bench.db)) {
		bench_fail(&bench, "cannot open the database");
		goto out;
	}
	if (bench_run(&bench))
		goto out;
	printf("orders %d, customers %d, queries %d, rows found %lu, checksum %016" PRIx64 "\n",
	       bench.orders, bench.customers, QUERIES, bench.results, bench.checksum);
	if (fflush(stdout)) {
		fprintf(stderr, "sqlbench: cannot write the result: %s\n", strerror(errno));
		goto out;
	}
	status = 0;
out:
	sqlite3_close(bench.db);
	file_remove();
	return status;
}
