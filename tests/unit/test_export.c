/* SPDX-License-Identifier: MIT */
/* cli/output/export*: the samples of a made-up run in each format, as text or decoded. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/library.h"
#include "cli/log.h"
#include "cli/output/export.h"
#include "suite.h"

static struct samples samples;
static struct process_facts processes[2];
static struct provenance provenance;
static struct session_facts facts;
static struct export_options options;
static char *text;
static size_t size;
static u32 frame_main, frame_work, frame_libc, frame_kernel, region_outer, region_inner;

/* ---- the run: two processes, of which the first has two threads and two regions -------------------------- */

static u32 string(const char *bytes)
{
	return samples_string(&samples, bytes, strlen(bytes));
}

static u32 frame(const char *path, const char *build_id, enum samples_object_kind kind, u64 address)
{
	return samples_frame(&samples, samples_object(&samples, path, build_id, kind), address);
}

static void name(u32 number, const char *inlined, const char *function, u32 line)
{
	struct samples_line lines[2] = { { SAMPLES_NONE, SAMPLES_NONE, 3 }, { SAMPLES_NONE, SAMPLES_NONE, line } };

	lines[1].function = string(function);
	if (line)
		lines[1].file = string("prog.c");
	if (inlined) {
		lines[0].function = string(inlined);
		lines[0].file = string("leaf.h");
	}
	samples_name(&samples, number, inlined ? lines : &lines[1], inlined ? 2 : 1);
}

/* Frames from the outermost on, ended by SAMPLES_NONE. */
static void add(u32 process, u32 tid, u32 region, u32 flags, u64 period, u64 time_ns, const u32 *frames)
{
	struct samples_row row = { .process = process, .pid = process * 10, .tid = tid, .region = region,
				   .chain = SAMPLES_NONE, .flags = flags };

	for (; *frames != SAMPLES_NONE; frames++)
		row.chain = samples_chain(&samples, row.chain, *frames);
	ck_assert_int_eq(samples_add(&samples, &row, period, time_ns, tid % 4), 0);
}

static void fill(void)
{
	const u32 work[] = { frame_main, frame_work, SAMPLES_NONE }, libc[] = { frame_main, frame_libc, SAMPLES_NONE };
	const u32 cut[] = { frame_libc, frame_kernel, SAMPLES_NONE }, none[] = { SAMPLES_NONE };

	add(1, 10, region_inner, 0, 1000, 1000000, work);
	add(1, 11, region_outer, 0, 1000, 1500500, libc);
	add(1, 10, region_inner, 0, 1001, 2000999, work);
	add(1, 10, SAMPLES_NONE, SAMPLES_UNATTRIBUTED | SAMPLES_TRUNCATED, 1000, 3000000, cut);
	add(2, 20, SAMPLES_NONE, 0, 500, 1234567890123, none);
}

static void setup(void)
{
	samples_init(&samples);
	samples.event = strdup("task-clock");
	samples.clock = true;
	samples.frequency = 999;
	frame_main = frame("/bin/my prog", "01ab", SAMPLES_FILE, 0x100);
	frame_work = frame("/bin/my prog", "01ab", SAMPLES_FILE, 0x200);
	frame_libc = frame("/lib/libc.so.6", NULL, SAMPLES_FILE, 0x300);
	frame_kernel = frame("[kernel]", NULL, SAMPLES_KERNEL, 0xffffffff81000000);
	name(frame_main, NULL, "main", 10);
	name(frame_work, "leaf(int)", "<[u8; 4]>::work", 20);
	name(frame_kernel, NULL, "do_syscall_64", 0);
	region_outer = samples_region(&samples, SAMPLES_NONE, "outer", 5);
	region_inner = samples_region(&samples, region_outer, "in\"ner\n", 7);
	fill();
	processes[0] = (struct process_facts){ .id = 1, .pid = 10, .command = "/bin/prog --with arguments", .image = "/lib/libc.so.6" };
	processes[1] = (struct process_facts){ .id = 2, .pid = 20 };
	provenance = (struct provenance){ .started_ns = 1700000000000000000 };
	facts = (struct session_facts){ .provenance = &provenance, .duration_ns = 2000000000, .processes = processes,
					.nprocesses = 2 };
	options = (struct export_options){ .group = PROFILE_BY_REGION };
}

static void teardown(void)
{
	samples_fini(&samples);
	free(text);
	text = NULL;
}

/* 0, or -1; the text is there afterwards. */
static int write_as(const char *format)
{
	const struct export_format *row = export_formats;
	struct exporter exporter = { .samples = &samples, .facts = &facts, .options = &options };
	int err;

	while (row->name && strcmp(row->name, format))
		row++;
	ck_assert_ptr_nonnull(row->name);
	free(text);
	exporter.file = open_memstream(&text, &size);
	err = export_write(row, &exporter);
	fclose(exporter.file);
	return err;
}

/* ---- text --------------------------------------------------------------------------------------------- */

START_TEST(test_folded)
{
	ck_assert_int_eq(write_as("folded"), 0);
	ck_assert_str_eq(text,
			 "[unknown] 1\n"
			 "[region] outer;main;[libc.so.6] 1\n"
			 "[region] outer;[region] in\"ner\\n;main;<[u8: 4]>::work;leaf(int) 2\n"
			 "[region not known];[truncated];[libc.so.6];do_syscall_64 1\n");
	options.weight = EXPORT_TIME;
	options.no_regions = true;
	ck_assert_int_eq(write_as("folded"), 0);
	ck_assert_str_eq(text,
			 "[unknown] 500\n"
			 "main;<[u8: 4]>::work;leaf(int) 2001\n"
			 "main;[libc.so.6] 1000\n"
			 "[truncated];[libc.so.6];do_syscall_64 1000\n");
}
END_TEST

START_TEST(test_roots)
{
	options.no_regions = true;
	options.group = PROFILE_BY_PROCESS;
	ck_assert_int_eq(write_as("folded"), 0);
	ck_assert_str_eq(text,
			 "[process] :20 20;[unknown] 1\n"
			 "[process] prog 10;main;<[u8: 4]>::work;leaf(int) 2\n"
			 "[process] prog 10;main;[libc.so.6] 1\n"
			 "[process] prog 10;[truncated];[libc.so.6];do_syscall_64 1\n");
	options.group = PROFILE_BY_THREAD;
	ck_assert_int_eq(write_as("folded"), 0);
	ck_assert_str_eq(text,
			 "[process] :20 20;[thread] 20;[unknown] 1\n"
			 "[process] prog 10;[thread] 10;main;<[u8: 4]>::work;leaf(int) 2\n"
			 "[process] prog 10;[thread] 11;main;[libc.so.6] 1\n"
			 "[process] prog 10;[thread] 10;[truncated];[libc.so.6];do_syscall_64 1\n");
}
END_TEST

/* Different addresses of a function, and functions of an object without names, are one frame. */
START_TEST(test_folded_once)
{
	const u32 other[] = { frame("/bin/my prog", "01ab", SAMPLES_FILE, 0x104),
			      frame("/lib/libc.so.6", NULL, SAMPLES_FILE, 0x308), SAMPLES_NONE };

	name(other[0], NULL, "main", 11);
	add(1, 10, region_outer, 0, 1000, 4000000, other);
	ck_assert_int_eq(write_as("folded"), 0);
	ck_assert_ptr_nonnull(strstr(text, "[region] outer;main;[libc.so.6] 2\n"));
}
END_TEST

START_TEST(test_perf_script)
{
	ck_assert_int_eq(write_as("perf-script"), 0);
	ck_assert_str_eq(text,
			 "prog    10/10    [002]     0.001000000:       1001 task-clock: \n"
			 "\t             200 leaf(int) (inlined)\n"
			 "\t             200 <[u8; 4]>::work (/bin/my\\x20prog)\n"
			 "\t             100 main (/bin/my\\x20prog)\n"
			 "\t               0 [region] in\"ner\\n ([spark])\n"
			 "\t               0 [region] outer ([spark])\n"
			 "\n"
			 "prog    10/11    [003]     0.001500500:       1000 task-clock: \n"
			 "\t             300 [unknown] (/lib/libc.so.6)\n"
			 "\t             100 main (/bin/my\\x20prog)\n"
			 "\t               0 [region] outer ([spark])\n"
			 "\n"
			 "prog    10/10    [002]     0.002000999:       1000 task-clock: \n"
			 "\t             200 leaf(int) (inlined)\n"
			 "\t             200 <[u8; 4]>::work (/bin/my\\x20prog)\n"
			 "\t             100 main (/bin/my\\x20prog)\n"
			 "\t               0 [region] in\"ner\\n ([spark])\n"
			 "\t               0 [region] outer ([spark])\n"
			 "\n"
			 "prog    10/10    [002]     0.003000000:       1000 task-clock: \n"
			 "\tffffffff81000000 do_syscall_64 ([kernel.kallsyms])\n"
			 "\t             300 [unknown] (/lib/libc.so.6)\n"
			 "\t               0 [truncated] ([spark])\n"
			 "\t               0 [region not known] ([spark])\n"
			 "\n"
			 ":20    20/20    [000]  1234.567890123:        500 task-clock: \n"
			 "\t               0 [unknown] ([unknown])\n"
			 "\n");
	options.no_regions = true;
	ck_assert_int_eq(write_as("perf-script"), 0);
	ck_assert_ptr_null(strstr(text, "region"));
}
END_TEST

#define CHROME_EVENT(phase, category, pid, tid, ts, name) \
	"{\"ph\":\"" phase "\",\"cat\":\"" category "\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts "," \
	"\"name\":\"" name "\","
#define CHROME_NAME(pid, tid, what, name) \
	CHROME_EVENT("M", "__metadata", pid, tid, "0.000", what) "\"args\":{\"name\":\"" name "\"}},\n"
#define CHROME_PROFILE(id, pid, tid) \
	CHROME_EVENT("P", "disabled-by-default-v8.cpu_profiler", pid, tid, "0.000", "Profile") \
	"\"id\":\"" id "\",\"args\":{\"data\":{\"startTime\":0}}},\n"
#define CHROME_CHUNK(id, pid, tid, ts) \
	CHROME_EVENT("P", "disabled-by-default-v8.cpu_profiler", pid, tid, ts, "ProfileChunk") \
	"\"id\":\"" id "\",\"args\":{\"data\":{\"cpuProfile\":{"
#define CHROME_NODE(id, name) "{\"id\":" id ",\"callFrame\":{\"functionName\":\"" name \
	"\",\"scriptId\":0}}"
#define CHROME_CHILD(id, parent, name) \
	",{\"id\":" id ",\"parent\":" parent ",\"callFrame\":{\"functionName\":\"" name \
	"\",\"scriptId\":0}}"
#define CHROME_NODES_END "],\"samples\":[]},\"timeDeltas\":[]}}},\n"

START_TEST(test_chrome)
{
	options.no_regions = true;
	ck_assert_int_eq(write_as("chrome"), 0);
	ck_assert_str_eq(text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
			 CHROME_NAME("10", "10", "process_name", "prog")
			 CHROME_NAME("10", "10", "thread_name", "prog")
			 CHROME_NAME("10", "10", "process_name", "prog")
			 CHROME_NAME("10", "11", "thread_name", "prog")
			 CHROME_NAME("20", "20", "process_name", ":20")
			 CHROME_NAME("20", "20", "thread_name", ":20")
			 CHROME_PROFILE("0x1", "10", "10") CHROME_CHUNK("0x1", "10", "10", "0.000") "\"nodes\":["
			 CHROME_NODE("1", "(root)") CHROME_CHILD("3", "1", "[truncated]")
			 CHROME_CHILD("6", "1", "main") CHROME_CHILD("7", "6", "<[u8; 4]>::work")
			 CHROME_CHILD("8", "7", "leaf(int)") CHROME_CHILD("11", "3", "[libc.so.6]")
			 CHROME_CHILD("12", "11", "do_syscall_64") CHROME_NODES_END
			 CHROME_CHUNK("0x1", "10", "10", "1000.000")
			 "\"samples\":[8,8,12]},\"timeDeltas\":[1000,1000,1000],\"endTime\":3000}}},\n"
			 CHROME_PROFILE("0x2", "10", "11") CHROME_CHUNK("0x2", "10", "11", "0.000") "\"nodes\":["
			 CHROME_NODE("2", "(root)") CHROME_CHILD("9", "2", "main")
			 CHROME_CHILD("10", "9", "[libc.so.6]") CHROME_NODES_END
			 CHROME_CHUNK("0x2", "10", "11", "1500.500")
			 "\"samples\":[10]},\"timeDeltas\":[1500],\"endTime\":1500}}},\n"
			 CHROME_PROFILE("0x4", "20", "20") CHROME_CHUNK("0x4", "20", "20", "0.000") "\"nodes\":["
			 CHROME_NODE("4", "(root)") CHROME_CHILD("5", "4", "[unknown]") CHROME_NODES_END
			 CHROME_CHUNK("0x4", "20", "20", "1234567890.123")
			 "\"samples\":[5]},\"timeDeltas\":[1234567890],\"endTime\":1234567890}}}\n]}\n");
	options.no_regions = false;
	ck_assert_int_eq(write_as("chrome"), 0);
	ck_assert_ptr_nonnull(strstr(text, "\"functionName\":\"[region] in\\\"ner\\\\n\""));
}
END_TEST

START_TEST(test_speedscope)
{
	ck_assert_int_eq(write_as("speedscope"), 0);
	ck_assert_str_eq(text,
			 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"sparkctl\",\n"
			 "\"shared\":{\"frames\":[\n"
			 "{\"name\":\"10/10\"},\n"
			 "{\"name\":\"[region] outer\"},\n"
			 "{\"name\":\"[region] in\\\"ner\\\\n\"},\n"
			 "{\"name\":\"10/11\"},\n"
			 "{\"name\":\"[region not known]\"},\n"
			 "{\"name\":\"[truncated]\"},\n"
			 "{\"name\":\"20/20\"},\n"
			 "{\"name\":\"[unknown]\"},\n"
			 "{\"name\":\"main\",\"file\":\"prog.c\"},\n"
			 "{\"name\":\"<[u8; 4]>::work\",\"file\":\"prog.c\"},\n"
			 "{\"name\":\"leaf(int)\",\"file\":\"leaf.h\",\"line\":3},\n"
			 "{\"name\":\"[libc.so.6]\",\"file\":\"/lib/libc.so.6\"},\n"
			 "{\"name\":\"do_syscall_64\",\"file\":\"[kernel]\"}\n"
			 "]},\n"
			 "\"profiles\":[\n"
			 "{\"type\":\"sampled\",\"name\":\"prog 10/10\",\"unit\":\"nanoseconds\",\"startValue\":0,\n"
			 "\"samples\":[\n"
			 "[1,2,8,9,10],\n"
			 "[1,2,8,9,10],\n"
			 "[4,5,11,12]],\n"
			 "\"weights\":[1001,1000,1000],\"endValue\":3001},\n"
			 "{\"type\":\"sampled\",\"name\":\"prog 10/11\",\"unit\":\"nanoseconds\",\"startValue\":0,\n"
			 "\"samples\":[\n"
			 "[1,8,11]],\n"
			 "\"weights\":[1000],\"endValue\":1000},\n"
			 "{\"type\":\"sampled\",\"name\":\":20 20/20\",\"unit\":\"nanoseconds\",\"startValue\":0,\n"
			 "\"samples\":[\n"
			 "[7]],\n"
			 "\"weights\":[500],\"endValue\":500}\n"
			 "]}\n");
	samples.clock = false;
	options.no_regions = true;
	ck_assert_int_eq(write_as("speedscope"), 0);
	ck_assert_ptr_nonnull(strstr(text, "\"unit\":\"none\""));
	ck_assert_ptr_null(strstr(text, "region"));
}
END_TEST

/* What all threads have, the samples of the first and all of the second. */
START_TEST(test_firefox)
{
	ck_assert_int_eq(write_as("firefox"), 0);
	ck_assert_ptr_eq(text, strstr(text,
			 "{\"meta\":{\"interval\":1.001001,\"startTime\":1700000000000,\"processType\":0,\"stackwalk\":1,\"ver"
			 "sion\":30,\"preprocessedProfileVersion\":48,\"symbolicated\":true,\"importedFrom\":\"sparkctl\",\"pl"
			 "atform\":\"Linux\",\"oscpu\":\"Linux\",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"thre"
			 "adCPUDelta\":\"ns\"},\"sourceCodeIsNotOnSearchfox\":true,\"usesOnlyOneStackType\":true,\"doesNotUseF"
			 "rameImplementation\":true,\"markerSchema\":[],\"product\":\"prog\",\"categories\":[{\"name\":\"outsi"
			 "de of regions\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},\n"
			 "{\"name\":\"[region] outer\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},\n"
			 "{\"name\":\"[region] in\\\"ner\\\\n\",\"color\":\"green\",\"subcategories\":[\"Other\"]},\n"
			 "{\"name\":\"[region not known]\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}]},\n"
			 "\"libs\":[\n"
			 "{\"arch\":\"\",\"breakpadId\":\"\",\"codeId\":\"01ab\",\"name\":\"my prog\",\"path\":\"/bin/my prog"
			 "\",\"debugName\":\"my prog\",\"debugPath\":\"/bin/my prog\"},\n"
			 "{\"arch\":\"\",\"breakpadId\":\"\",\"codeId\":null,\"name\":\"libc.so.6\",\"path\":\"/lib/libc.so.6"
			 "\",\"debugName\":\"libc.so.6\",\"debugPath\":\"/lib/libc.so.6\"},\n"
			 "{\"arch\":\"\",\"breakpadId\":\"\",\"codeId\":null,\"name\":\"[kernel]\",\"path\":\"[kernel]\",\"deb"
			 "ugName\":\"[kernel]\",\"debugPath\":\"[kernel]\"}\n"
			 "],\n"
			 "\"pages\":[],\"threads\":[\n"));
	ck_assert_ptr_nonnull(strstr(text,
			 "{\"name\":\"prog\",\"processName\":\"prog\",\"processType\":\"default\",\"isMainThread\":false,\"pid"
			 "\":\"10\",\"tid\":11,\"pausedRanges\":[],\"processStartupTime\":0.000000,\"processShutdownTime\":nul"
			 "l,\"registerTime\":0.000000,\"unregisterTime\":null,\n"
			 "\"samples\":{\"weight\":null,\"weightType\":\"samples\",\"stack\":[2],\"time\":[1.500500],\"threadCP"
			 "UDelta\":[1000],\"length\":1},\n"
			 "\"stackTable\":{\"frame\":[0,1,2],\"prefix\":[null,0,1],\"category\":[1,1,1],\"subcategory\":[0,0,0]"
			 ",\"length\":3},\n"
			 "\"frameTable\":{\"address\":[-1,-1,-1],\"inlineDepth\":[0,0,0],\"category\":[1,null,null],\"subcateg"
			 "ory\":[0,null,null],\"func\":[0,1,2],\"nativeSymbol\":[null,null,null],\"innerWindowID\":[0,0,0],\"i"
			 "mplementation\":[null,null,null],\"line\":[null,null,null],\"column\":[null,null,null],\"length\":3}"
			 ",\n"
			 "\"funcTable\":{\"name\":[0,1,2],\"isJS\":[false,false,false],\"relevantForJS\":[false,false,false],"
			 "\"resource\":[-1,0,1],\"fileName\":[null,4,null],\"lineNumber\":[null,null,null],\"columnNumber\":[nu"
			 "ll,null,null],\"length\":3},\n"
			 "\"resourceTable\":{\"lib\":[0,1,2],\"name\":[6,7,8],\"host\":[null,null,null],\"type\":[1,1,1],\"len"
			 "gth\":3},\n"
			 "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n"
			 "\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[],\""
			 "length\":0},\n"
			 "\"stringArray\":[\"[region] outer\",\"main\",\"[libc.so.6]\",\"\",\"prog.c\",\"\",\"my prog\",\"libc"
			 ".so.6\",\"[kernel]\"],\"showMarkersInTimeline\":false},\n"));
	ck_assert_ptr_nonnull(strstr(text,
			 "\"samples\":{\"weight\":null,\"weightType\":\"samples\",\"stack\":[6,6,8],\"time\":[1.000000,2.00099"
			 "9,3.000000],\"threadCPUDelta\":[1001,1000,1000],\"length\":3},\n"));
	samples.clock = false;
	options.no_regions = true;
	ck_assert_int_eq(write_as("firefox"), 0);
	ck_assert_ptr_null(strstr(text, "threadCPUDelta\":["));
	ck_assert_ptr_null(strstr(text, "[region"));
}
END_TEST

START_TEST(test_empty)
{
	samples_fini(&samples);
	ck_assert_int_eq(write_as("folded"), 0);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(write_as("perf-script"), 0);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(write_as("chrome"), 0);
	ck_assert_str_eq(text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n]}\n");
}
END_TEST

/* ---- pprof -------------------------------------------------------------------------------------------- */

#ifdef HAVE_PROTOBUF_C
#include <zlib.h>

#include "cli/output/pprof.pb-c.h"

static struct {
	__typeof__(&protobuf_c_message_unpack) unpack;
	__typeof__(&protobuf_c_message_free_unpacked) free;
	__typeof__(&inflateInit2_) init;
	__typeof__(&inflate) inflate;
	__typeof__(&inflateEnd) end;
} library;

static void load(void)
{
	const struct library_function protobuf[] = {
		{ "protobuf_c_message_unpack", &library.unpack },
		{ "protobuf_c_message_free_unpacked", &library.free },
	}, zlib[] = {
		{ "inflateInit2_", &library.init },
		{ "inflate", &library.inflate },
		{ "inflateEnd", &library.end },
	};

	ck_assert(library_load("libprotobuf-c.so.1", protobuf, ARRAY_SIZE(protobuf)));
	ck_assert(library_load("libz.so.1", zlib, ARRAY_SIZE(zlib)));
}

static Pprof__Profile *decoded(void)
{
	static u8 plain[1 << 16];
	z_stream zip = { .next_in = NULL };
	Pprof__Profile *profile;

	load();
	ck_assert_int_eq(write_as("pprof"), 0);
	zip.next_in = (u8 *)text;
	zip.avail_in = (uInt)size;
	zip.next_out = plain;
	zip.avail_out = sizeof(plain);
	ck_assert_int_eq(library.init(&zip, 15 + 16, ZLIB_VERSION, (int)sizeof(zip)), Z_OK);
	ck_assert_int_eq(library.inflate(&zip, Z_FINISH), Z_STREAM_END);
	library.end(&zip);
	profile = (Pprof__Profile *)library.unpack(&pprof__profile__descriptor, NULL, zip.total_out, plain);
	ck_assert_ptr_nonnull(profile);
	ck_assert_uint_eq(profile->string_table[0].len, 0);
	return profile;
}

/* Every index and every number leads somewhere. */
static const char *table(const Pprof__Profile *profile, int64_t i)
{
	static char texts[8][64];
	static u32 next;
	char *out = texts[next++ % ARRAY_SIZE(texts)];

	ck_assert(i >= 0 && (size_t)i < profile->n_string_table);
	snprintf(out, sizeof(texts[0]), "%.*s", (int)profile->string_table[i].len,
		 (const char *)profile->string_table[i].data);
	return out;
}

#define PPROF_BY_ID(kind) static const Pprof__##kind *by_id_##kind(Pprof__##kind *const *list, size_t n, u64 id) \
	{ \
		const Pprof__##kind *found = NULL; \
		for (size_t i = 0; i < n; i++) \
			if (list[i]->id == id) { \
				ck_assert_ptr_null(found); \
				found = list[i]; \
			} \
		ck_assert(id && found); \
		return found; \
	}
PPROF_BY_ID(Location)
PPROF_BY_ID(Mapping)
PPROF_BY_ID(Function)

/* "leaf(int) leaf.h:3, work prog.c:20; main prog.c:10" */
static const char *stack(const Pprof__Profile *profile, const Pprof__Sample *sample)
{
	static char out[1024];
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < sample->n_location_id; i++) {
		const Pprof__Location *location =
			by_id_Location(profile->location, profile->n_location, sample->location_id[i]);

		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%" PRIx64, i ? "; " : "", location->address);
		for (size_t k = 0; k < location->n_line; k++) {
			const Pprof__Function *function =
				by_id_Function(profile->function, profile->n_function, location->line[k]->function_id);

			at += (size_t)snprintf(out + at, sizeof(out) - at, " %s %s:%d", table(profile, function->name),
					       table(profile, function->filename), (int)location->line[k]->line);
		}
	}
	return out;
}

static const char *labels(const Pprof__Profile *profile, const Pprof__Sample *sample)
{
	static char out[256];
	size_t at = 0;

	for (size_t i = 0; i < sample->n_label; i++)
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s=%s%d ", table(profile, sample->label[i]->key),
				       table(profile, sample->label[i]->str), (int)sample->label[i]->num);
	return out;
}

START_TEST(test_pprof)
{
	Pprof__Profile *profile = decoded();

	ck_assert_uint_eq(profile->n_sample, 4);
	ck_assert_str_eq(stack(profile, profile->sample[0]),
			 "200 leaf(int) leaf.h:3 <[u8; 4]>::work prog.c:20; 100 main prog.c:10");
	ck_assert_int_eq(profile->sample[0]->value[0], 2);
	ck_assert_int_eq(profile->sample[0]->value[1], 2001);
	ck_assert_str_eq(labels(profile, profile->sample[0]), "process=prog0 pid=10 tid=10 region=outer;in\"ner\\n0 ");
	ck_assert_str_eq(stack(profile, profile->sample[1]), "300; 100 main prog.c:10");
	ck_assert_str_eq(labels(profile, profile->sample[1]), "process=prog0 pid=10 tid=11 region=outer0 ");
	ck_assert_str_eq(stack(profile, profile->sample[2]),
			 "ffffffff81000000 do_syscall_64 :0; 300; 0 [truncated] :0");
	ck_assert_str_eq(labels(profile, profile->sample[2]),
			 "process=prog0 pid=10 tid=10 region=[region not known]0 ");
	ck_assert_str_eq(stack(profile, profile->sample[3]), "0 [unknown] :0");
	ck_assert_str_eq(labels(profile, profile->sample[3]), "process=:200 pid=20 tid=20 ");
	library.free(&profile->base, NULL);
}
END_TEST

START_TEST(test_pprof_header)
{
	Pprof__Profile *profile = decoded();
	const Pprof__Mapping *mapping;

	ck_assert_uint_eq(profile->n_sample_type, 2);
	ck_assert_str_eq(table(profile, profile->sample_type[0]->type), "samples");
	ck_assert_str_eq(table(profile, profile->sample_type[0]->unit), "count");
	ck_assert_str_eq(table(profile, profile->sample_type[1]->type), "cpu");
	ck_assert_str_eq(table(profile, profile->sample_type[1]->unit), "nanoseconds");
	ck_assert_int_eq(profile->default_sample_type, profile->period_type->type);
	ck_assert_int_eq(profile->period, 4501 / 5);
	ck_assert_int_eq(profile->time_nanos, 1700000000000000000);
	ck_assert_int_eq(profile->duration_nanos, 2000000000);
	/* The program's own comes first. */
	ck_assert_str_eq(table(profile, profile->mapping[0]->filename), "/lib/libc.so.6");
	ck_assert(!profile->mapping[0]->has_functions);
	mapping = by_id_Mapping(profile->mapping, profile->n_mapping, 1);
	ck_assert_str_eq(table(profile, mapping->filename), "/bin/my prog");
	ck_assert_str_eq(table(profile, mapping->build_id), "01ab");
	ck_assert_uint_eq(mapping->memory_limit, 0x201);
	ck_assert(mapping->has_functions && mapping->has_filenames);
	ck_assert(mapping->has_line_numbers && mapping->has_inline_frames);
	library.free(&profile->base, NULL);
}
END_TEST

/* Of an event that is no clock, without regions. */
START_TEST(test_pprof_event)
{
	Pprof__Profile *profile;

	free(samples.event);
	samples.event = strdup("cycles");
	samples.clock = false;
	options.no_regions = true;
	profile = decoded();
	ck_assert_str_eq(table(profile, profile->sample_type[1]->type), "cycles");
	ck_assert_str_eq(table(profile, profile->sample_type[1]->unit), "count");
	ck_assert_str_eq(labels(profile, profile->sample[0]), "process=prog0 pid=10 tid=10 ");
	library.free(&profile->base, NULL);
}
END_TEST
#else
START_TEST(test_pprof)
{
	char said[128];

	log_capture(said, sizeof(said));
	ck_assert_int_eq(write_as("pprof"), -1);
	log_capture(NULL, 0);
	ck_assert_ptr_nonnull(strstr(said, "protobuf-c"));
}
END_TEST
#endif

int main(void)
{
	TCase *tests = tcase_create("export");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_folded);
	tcase_add_test(tests, test_roots);
	tcase_add_test(tests, test_folded_once);
	tcase_add_test(tests, test_perf_script);
	tcase_add_test(tests, test_chrome);
	tcase_add_test(tests, test_speedscope);
	tcase_add_test(tests, test_firefox);
	tcase_add_test(tests, test_empty);
	tcase_add_test(tests, test_pprof);
#ifdef HAVE_PROTOBUF_C
	tcase_add_test(tests, test_pprof_header);
	tcase_add_test(tests, test_pprof_event);
#endif
	return suite_run("export", tests);
}
