/* SPDX-License-Identifier: MIT */
/* The tables of a recording; spark-recording(5) describes them. STORE_VERSION counts their changes. */
#include "cli/store/internal.h"

const char *const store_ends[] = {
	[PROCESS_ALIVE] = "alive", [PROCESS_EXIT] = "exit", [PROCESS_SIGNAL] = "signal", [PROCESS_EXEC] = "exec",
	[PROCESS_UNKNOWN] = "unknown", NULL,
};

const char *const store_tables[] = {
	"run", "argument", "note", "object", "capability", "clock", "total", "loss", "process", "thread",
	"cell", "event", "reason", "usage", "name", "path", "root", "region", "counter", "value", "window",
	"diagnosis", "open_region", NULL,
};

const char *const store_samples_tables[] = {
	"sampling", "code_name", "code_object", "frame", "line", "chain", "sampled_path", "sample", "sample_events", NULL,
};

const char *const store_object_kinds[] = {
	[SAMPLES_FILE] = "file", [SAMPLES_KERNEL] = "kernel", [SAMPLES_VDSO] = "vdso", [SAMPLES_JIT] = "jit",
	[SAMPLES_UNKNOWN] = "unknown", NULL,
};

const char *const store_unresolved[] = {
	[SAMPLES_RESOLVED] = "resolved", [SAMPLES_STRIPPED] = "stripped", [SAMPLES_DELETED] = "deleted",
	[SAMPLES_UNREADABLE] = "unreadable", [SAMPLES_NO_MAP] = "no_map", [SAMPLES_HIDDEN] = "hidden",
	[SAMPLES_UNMAPPED] = "unmapped", [SAMPLES_NOT_ASKED] = "not_asked", NULL,
};

const char store_schema[] =
	"CREATE TABLE run (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE argument (text);"
	"CREATE TABLE note (time_ns INTEGER, text TEXT);"
	"CREATE TABLE object (path TEXT, build_id TEXT);"
	"CREATE TABLE capability (name TEXT, available INTEGER, asked INTEGER, because TEXT, remedy TEXT);"
	"CREATE TABLE clock (ticks INTEGER, ns INTEGER);"
	"CREATE TABLE total (name TEXT, unit TEXT, value REAL, state TEXT, note TEXT, source TEXT);"
	"CREATE TABLE loss (name TEXT, count INTEGER, text TEXT);"
	"CREATE TABLE process (id INTEGER PRIMARY KEY, pid INTEGER, parent INTEGER, command, image,"
	" start_ns INTEGER, end_ns INTEGER, ended TEXT, status INTEGER, signal INTEGER, threads INTEGER,"
	" bracket INTEGER, pair INTEGER, detector INTEGER, sealed_cpu INTEGER, agent INTEGER, no_agent TEXT);"
	"CREATE TABLE thread (id INTEGER PRIMARY KEY, process INTEGER, pid INTEGER, tid INTEGER, threads INTEGER,"
	" detector INTEGER, wall INTEGER);"
	"CREATE TABLE cell (id INTEGER PRIMARY KEY, source TEXT, name TEXT, unit TEXT);"
	"CREATE TABLE event (id INTEGER PRIMARY KEY, name TEXT, unit TEXT, scale REAL, place INTEGER, grp INTEGER,"
	" note TEXT, shared INTEGER, cores TEXT);"
	"CREATE TABLE reason (id INTEGER PRIMARY KEY, text TEXT);"
	"CREATE TABLE usage (kind INTEGER, owner INTEGER, cell INTEGER, value REAL, state TEXT, reason INTEGER);"
	"CREATE TABLE name (id INTEGER PRIMARY KEY, text);"
	"CREATE TABLE path (id INTEGER PRIMARY KEY, parent INTEGER, name INTEGER);"
	"CREATE TABLE root (id INTEGER PRIMARY KEY, process INTEGER, pid INTEGER, tid INTEGER);"
	"CREATE TABLE region (root INTEGER, path INTEGER, calls INTEGER, wall INTEGER, off INTEGER, min INTEGER,"
	" max INTEGER, bracket REAL, hist BLOB, open INTEGER, open_wall INTEGER, unsure INTEGER, left INTEGER,"
	" units INTEGER, unit INTEGER, unit_mixed INTEGER, counters INTEGER, cpu_state TEXT, cpu_note TEXT);"
	"CREATE TABLE counter (root INTEGER, path INTEGER, cell INTEGER, value INTEGER, reason INTEGER);"
	"CREATE TABLE value (root INTEGER, path INTEGER, name INTEGER, count INTEGER, sum REAL, min REAL, max REAL,"
	" last REAL);"
	"CREATE TABLE window (id INTEGER PRIMARY KEY, process INTEGER, pid INTEGER, name INTEGER, calls INTEGER,"
	" open INTEGER, wall INTEGER);"
	"CREATE TABLE diagnosis (process INTEGER, tid INTEGER, kind TEXT, name INTEGER, count INTEGER);"
	"CREATE TABLE open_region (process INTEGER, tid INTEGER, name INTEGER, count INTEGER);"
	/* For people: names and nanoseconds. */
	"CREATE VIEW path_text AS WITH RECURSIVE deep(id, text) AS ("
	"  SELECT path.id, name.text FROM path JOIN name ON name.id = path.name WHERE path.parent IS NULL"
	"  UNION ALL SELECT path.id, deep.text || ';' || name.text FROM deep"
	"  JOIN path ON path.parent = deep.id JOIN name ON name.id = path.name)"
	" SELECT id, text FROM deep;"
	"CREATE VIEW used AS SELECT CASE kind WHEN 0 THEN 'process' WHEN 1 THEN 'thread' ELSE 'window' END AS kind,"
	" owner, cell.name AS name, value, state, reason.text AS reason FROM usage JOIN cell ON cell.id = usage.cell"
	" LEFT JOIN reason ON reason.id = usage.reason;"
	"CREATE VIEW counted AS SELECT process.command AS command, root.pid AS pid, root.tid AS tid,"
	" path_text.text AS path, cell.source AS source, cell.name AS name, cell.unit AS unit, counter.value AS value,"
	" reason.text AS reason FROM counter JOIN root ON root.id = counter.root"
	" JOIN process ON process.id = root.process JOIN path_text ON path_text.id = counter.path"
	" JOIN cell ON cell.id = counter.cell LEFT JOIN reason ON reason.id = counter.reason;"
	"CREATE VIEW regions AS SELECT process.command AS command, root.pid AS pid, root.tid AS tid,"
	" path_text.text AS path, calls, open, wall * rate.value AS wall_ns, off * rate.value AS off_ns,"
	" (wall - off) * rate.value AS cpu_ns, min * rate.value AS min_ns, max * rate.value AS max_ns"
	" FROM region JOIN root ON root.id = region.root JOIN process ON process.id = root.process"
	" JOIN path_text ON path_text.id = region.path JOIN run AS rate ON rate.key = 'ns_per_tick';";

/* A page each, in a file of its own that is a dozen of them without. */
const char store_samples_schema[] =
	"CREATE TABLE sampling (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE code_name (id INTEGER PRIMARY KEY, text);"
	"CREATE TABLE code_object (id INTEGER PRIMARY KEY, path, build_id TEXT, kind TEXT, note);"
	"CREATE TABLE frame (id INTEGER PRIMARY KEY, object INTEGER, address INTEGER, unresolved TEXT);"
	"CREATE TABLE line (frame INTEGER, place INTEGER, function INTEGER, file INTEGER, line INTEGER);"
	"CREATE TABLE chain (id INTEGER PRIMARY KEY, parent INTEGER, frame INTEGER);"
	"CREATE TABLE sampled_path (id INTEGER PRIMARY KEY, parent INTEGER, name INTEGER);"
	"CREATE TABLE sample (id INTEGER PRIMARY KEY, process INTEGER, pid INTEGER, tid INTEGER, path INTEGER,"
	" chain INTEGER, truncated INTEGER, unattributed INTEGER, in_kernel INTEGER, count INTEGER, weight INTEGER);"
	"CREATE TABLE sample_events (first_ns INTEGER, count INTEGER, events BLOB);"
	"CREATE TABLE sample_missed (process INTEGER, path INTEGER, unattributed INTEGER, lost INTEGER, throttled INTEGER);"
	"CREATE VIEW sampled AS WITH RECURSIVE deep(id, text) AS ("
	"  SELECT sampled_path.id, code_name.text FROM sampled_path JOIN code_name ON code_name.id = sampled_path.name"
	"  WHERE sampled_path.parent IS NULL"
	"  UNION ALL SELECT sampled_path.id, deep.text || ';' || code_name.text FROM deep"
	"  JOIN sampled_path ON sampled_path.parent = deep.id JOIN code_name ON code_name.id = sampled_path.name)"
	" SELECT sample.pid AS pid, sample.tid AS tid, deep.text AS path, code_object.path AS object,"
	" function.text AS function, file.text AS file, line.line AS line, sample.count AS count, sample.weight AS weight"
	" FROM sample LEFT JOIN deep ON deep.id = sample.path LEFT JOIN chain ON chain.id = sample.chain"
	" LEFT JOIN frame ON frame.id = chain.frame LEFT JOIN code_object ON code_object.id = frame.object"
	" LEFT JOIN line ON line.frame = frame.id AND line.place = 0"
	" LEFT JOIN code_name AS function ON function.id = line.function"
	" LEFT JOIN code_name AS file ON file.id = line.file;";
