/* SPDX-License-Identifier: MIT */
/* analyze/storage and session/storage: stacks of devices as other machines have them, and what a kernel leaves out. */
#define _GNU_SOURCE
#include "cli/session/storage.h"

#include <fcntl.h>

#include "fake_root.h"
#include "suite.h"

static struct caps_context caps;
static struct storage *storage;
static const struct storage_asked nothing;

static void link_put(const char *path, const char *to)
{
	char full[1024];

	fake_put(path, "");
	snprintf(full, sizeof(full), "%s%s", fake_root, path);
	unlink(full);
	ck_assert_int_eq(symlink(to, full), 0);
}

static const char mounts[] =
	"22 27 0:21 / /proc rw,relatime - proc proc rw\n"
	"27 1 253:3 / / rw,relatime shared:1 master:2 - xfs /dev/mapper/vg-root rw,attr2,inode64\n"
	"31 27 8:1 / /boot\\040two rw,nosuid - ext4 /dev/sda1 rw\n"
	"32 27 9:0 / /raid rw - ext4 /dev/md0 rw\n"
	"33 27 0:45 / /net rw - nfs4 server:/vol rw,vers=4.2\n"
	"34 27 0:46 / /mem rw - tmpfs tmpfs rw,size=1k\n"
	"35 27 0:47 /sub /butter rw - btrfs /dev/sdz rw,subvol=/sub\n"
	"36 27 0:48 / /pool rw - zfs tank/home rw\n"
	"37 27 0:49 / /host rw - virtiofs shared rw\n"
	"38 27 11:7 / /gone rw - ext4 /dev/gone rw\n"
	"39 27 7:3 / /loop rw - ext4 /dev/loop3 rw\n"
	"40 27 0:50 / /over rw - overlay overlay rw,lowerdir=/a:/b,upperdir=/c,workdir=/d\n";

/* A disk with all that a SCSI disk tells. */
static void disk_put(const char *name, const char *number)
{
	static const struct fake_file files[] = {
		{ "queue/scheduler", "none [mq-deadline] kyber\n" }, { "queue/write_cache", "write back\n" },
		{ "queue/rotational", "1\n" }, { "queue/read_ahead_kb", "128\n" }, { "queue/nr_requests", "256\n" },
		{ "device/queue_depth", "32\n" }, { "device/model", "Big Disk  \n" }, { NULL, NULL },
	};
	char path[256], text[128], to[128];

	for (const struct fake_file *f = files; f->path; f++) {
		snprintf(path, sizeof(path), "/sys/devices/%s/%s", name, f->path);
		fake_put(path, f->text);
	}
	snprintf(path, sizeof(path), "/sys/devices/%s/uevent", name);
	snprintf(text, sizeof(text), "MAJOR=8\nMINOR=0\nDEVNAME=%s\nDEVTYPE=disk\n", name);
	fake_put(path, text);
	snprintf(path, sizeof(path), "/sys/devices/%s/dev", name);
	snprintf(text, sizeof(text), "%s\n", number);
	fake_put(path, text);
	snprintf(path, sizeof(path), "/sys/dev/block/%s", number);
	snprintf(to, sizeof(to), "../../devices/%s", name);
	link_put(path, to);
}

static void setup(void)
{
	static const struct fake_file files[] = {
		{ "/proc/self/mountinfo", mounts },
		{ "/proc/swaps", "Filename\tType\t\tSize\tUsed\tPriority\n/dev/sda2 partition\t8388604\t0\t-2\n/swap\\040file file 1024 0 -3\n" },
		{ "/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n" },
		{ "/sys/devices/sda/sda1/uevent", "DEVNAME=sda1\n" }, { "/sys/devices/sda/sda1/partition", "1\n" },
		{ "/sys/devices/sda/sda1/dev", "8:1\n" },
		{ "/sys/devices/dm-3/uevent", "DEVNAME=dm-3\n" }, { "/sys/devices/dm-3/dm/name", "vg-root\n" },
		{ "/sys/devices/dm-3/dev", "253:3\n" }, { "/sys/devices/dm-3/queue/scheduler", "none\n" },
		{ "/sys/devices/dm-3/slaves/sda1/dev", "8:1\n" },
		{ "/sys/devices/md0/uevent", "DEVNAME=md0\n" }, { "/sys/devices/md0/md/level", "raid1\n" },
		{ "/sys/devices/md0/slaves/sda/dev", "8:0\n" }, { "/sys/devices/md0/slaves/sdb/dev", "8:16\n" },
		{ "/sys/devices/loop3/uevent", "DEVNAME=loop3\n" }, { "/sys/devices/loop3/loop/backing_file", "/none/img (deleted)\n" },
		{ "/sys/devices/loop3/loop/dio", "0\n" },
		{ "/sys/fs/btrfs/some-uuid/devices/sdz/dev", "8:0\n" }, { "/sys/fs/btrfs/some-uuid/devices/sdy/dev", "8:16\n" },
		{ "/sys/fs/btrfs/other-uuid/devices/sdx/dev", "8:1\n" },
		{ NULL, NULL },
	};

	fake_make(files);
	disk_put("sda", "8:0");
	disk_put("sdb", "8:16");
	link_put("/sys/dev/block/8:1", "../../devices/sda/sda1");
	link_put("/sys/dev/block/253:3", "../../devices/dm-3");
	link_put("/sys/dev/block/9:0", "../../devices/md0");
	link_put("/sys/dev/block/7:3", "../../devices/loop3");
	caps_init(&caps, fake_root);
	storage = storage_new(&caps, &nothing);
	ck_assert_ptr_nonnull(storage);
}

static void teardown(void)
{
	storage_free(storage);
	fake_remove();
}

static const struct storage_path *at(u64 mount, u64 major, u64 minor)
{
	long i = storage_add_at(storage, "/some/path", "test", mount, major, minor);

	ck_assert_int_ge(i, 0);
	return &storage_facts(storage)->paths[i];
}

static void is_disk(const struct storage_device *device, const char *name, u32 depth)
{
	ck_assert_str_eq(device->name, name);
	ck_assert_str_eq(device->kind, "disk");
	ck_assert_str_eq(device->detail, "Big Disk");
	ck_assert_str_eq(device->scheduler, "mq-deadline");
	ck_assert_str_eq(device->write_cache, "write back");
	ck_assert_int_eq(device->rotational, 1);
	ck_assert_int_eq(device->read_ahead, 131072);
	ck_assert_int_eq(device->requests, 256);
	ck_assert_int_eq(device->queue_depth, 32);
	ck_assert_uint_eq(device->depth, depth);
	ck_assert_ptr_null(device->because);
}

START_TEST(test_stack)
{
	const struct storage_path *path = at(27, 0, 0);

	ck_assert_str_eq(path->type, "xfs");
	ck_assert_str_eq(path->mount, "/");
	ck_assert_str_eq(path->super_options, "rw,attr2,inode64");
	ck_assert_uint_eq(path->ndevices, 3);
	ck_assert_str_eq(path->devices[0].kind, "dm");
	ck_assert_str_eq(path->devices[0].detail, "vg-root");
	ck_assert_str_eq(path->devices[0].scheduler, "none");
	ck_assert_int_eq(path->devices[0].rotational, -1);
	ck_assert_str_eq(path->devices[1].kind, "partition");
	ck_assert_str_eq(path->devices[1].name, "sda1");
	is_disk(&path->devices[2], "sda", 2);
	ck_assert_ptr_null(path->because);
	/* Without the number of the mount the device tells. */
	path = at(0, 8, 1);
	ck_assert_str_eq(path->mount, "/boot two");
	ck_assert_str_eq(path->options, "rw,nosuid");
	ck_assert_uint_eq(path->ndevices, 2);
	path = at(32, 0, 0);
	ck_assert_uint_eq(path->ndevices, 3);
	ck_assert_str_eq(path->devices[0].detail, "raid1");
	is_disk(&path->devices[1], "sda", 1);
	is_disk(&path->devices[2], "sdb", 1);
}
END_TEST

START_TEST(test_anonymous)
{
	char why[200];
	const struct storage_path *path = at(33, 0, 0);

	ck_assert_uint_eq(path->ndevices, 0);
	ck_assert_str_eq(path->because, "the devices are those of the server, server:/vol");
	ck_assert(storage_behind(path, why, sizeof(why)));
	path = at(34, 0, 0);
	ck_assert_str_eq(path->because, "tmpfs is in memory");
	ck_assert(!storage_behind(path, why, sizeof(why)));
	path = at(35, 0, 0);
	ck_assert_uint_eq(path->ndevices, 2);
	is_disk(&path->devices[0], "sdb", 0);
	is_disk(&path->devices[1], "sda", 0);
	path = at(36, 0, 0);
	ck_assert_str_eq(path->because, "zfs tells no device here, only tank/home");
	ck_assert(storage_behind(path, why, sizeof(why)));
	ck_assert_ptr_nonnull(strstr(why, "ARC"));
	path = at(37, 0, 0);
	ck_assert_str_eq(path->because, "the devices are those of the host that shares shared");
	path = at(40, 0, 0);
	ck_assert_uint_eq(path->ndevices, 0);
	ck_assert_ptr_nonnull(strstr(path->because, "layer"));
}
END_TEST

START_TEST(test_missing)
{
	char why[200];
	const struct storage_path *path = at(38, 0, 0);

	/* sysfs is not mounted, or hides it. */
	ck_assert_uint_eq(path->ndevices, 1);
	ck_assert_str_eq(path->devices[0].name, "11:7");
	ck_assert_ptr_null(path->devices[0].kind);
	ck_assert_int_eq(path->devices[0].rotational, -1);
	ck_assert_ptr_nonnull(strstr(path->devices[0].because, "/sys/dev/block/11:7"));
	path = at(39, 0, 0);
	ck_assert_uint_eq(path->ndevices, 1);
	ck_assert_int_eq(path->devices[0].direct, 0);
	ck_assert_str_eq(path->because, "the file behind a loop device, /none/img (deleted), is not seen from here");
	ck_assert(storage_behind(path, why, sizeof(why)));
	ck_assert_ptr_nonnull(strstr(why, "loop3"));
	path = at(99, 0, 0);
	ck_assert_ptr_null(path->type);
	ck_assert_str_eq(path->because, "/proc/self/mountinfo does not have its mount");
	fake_put("/proc/self/mountinfo", "");
	ck_assert_ptr_nonnull(at(27, 0, 0)->because);
}
END_TEST

/* Devices that stand on each other are no hang. */
START_TEST(test_endless)
{
	fake_put("/sys/devices/dm-3/slaves/dm-3/dev", "253:3\n");
	ck_assert_uint_le(at(27, 0, 0)->ndevices, STORAGE_DEVICES);
	ck_assert_str_eq(storage_facts(storage)->paths[0].because, "the stack has more devices than these");
}
END_TEST

START_TEST(test_machine)
{
	const struct storage_fact *fact = storage_facts(storage);

	ck_assert_str_eq(fact->huge_pages, "madvise");
	ck_assert_str_eq(fact->swap, "/dev/sda2 8388604 kB, /swap file 1024 kB");
	ck_assert_int_eq(fact->page_size, sysconf(_SC_PAGESIZE));
	ck_assert_ptr_null(fact->io_model);
}
END_TEST

/* Our own folder, whatever it is on. */
START_TEST(test_here)
{
	struct caps_context real;
	struct storage *own;
	const struct storage_path *path;

	caps_init(&real, "");
	own = storage_new(&real, &(struct storage_asked){ .io_model = "mmap" });
	ck_assert_int_eq(storage_add(own, ".", "here"), 0);
	ck_assert_int_eq(storage_add(own, "/nonexistent/file", "there"), 1);
	path = storage_facts(own)->paths;
	ck_assert_ptr_nonnull(path[0].type);
	ck_assert(path[0].ndevices || path[0].because);
	ck_assert_ptr_null(path[1].type);
	ck_assert_ptr_nonnull(path[1].because);
	ck_assert_str_eq(storage_facts(own)->io_model, "mmap");
	storage_free(own);
}
END_TEST

/* Descriptor n of process 7, on a file of the fake machine, with what fdinfo tells of its mount. */
static void descriptor_put(u32 n, const char *file, const char *mount)
{
	char path[64], full[1024];

	snprintf(full, sizeof(full), "%s%s", fake_root, file);
	snprintf(path, sizeof(path), "/proc/7/fd/%u", n);
	link_put(path, full);
	snprintf(path, sizeof(path), "/proc/7/fdinfo/%u", n);
	fake_put(path, mount);
}

static size_t opened_paths(void)
{
	size_t n = 0;

	storage_opened_describe(storage);
	for (size_t i = 0; i < storage_facts(storage)->npaths; i++)
		n += storage_is_opened(&storage_facts(storage)->paths[i]);
	return n;
}

START_TEST(test_opened)
{
	const struct storage_fact *fact = storage_facts(storage);
	char text[STORAGE_OPENED_TEXT];
	u64 at = 0;

	ck_assert(!storage_opened_how(fact, text, sizeof(text)));
	ck_assert_str_eq(text, "nobody looked");
	fake_put("/one", "1");
	fake_put("/two", "2");
	descriptor_put(3, "/one", "pos:\t0\nflags:\t0100000\nmnt_id:\t27\nino:\t1\n");
	descriptor_put(4, "/two", "mnt_id:\t27\n");
	descriptor_put(5, "/one", "mnt_id:\t27\n");
	descriptor_put(6, "/proc", "mnt_id:\t22\n");
	descriptor_put(8, "/nothing", "mnt_id:\t27\n");
	storage_opened_begin(storage);
	ck_assert_int_eq(storage_opened_look(storage, 7, &at), STORAGE_LOOK_ON);
	ck_assert_int_eq(storage_opened_look(storage, 8, &at), STORAGE_LOOK_ON);
	ck_assert_uint_eq(at, 0);
	ck_assert_uint_eq(opened_paths(), 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_str_eq(fact->paths[i].type, "xfs");
		ck_assert_uint_eq(fact->paths[i].ndevices, 3);
		is_disk(&fact->paths[i].devices[2], "sda", 2);
	}
	ck_assert_ptr_ne(fact->paths[0].devices, fact->paths[1].devices);
	/* Another look finds the same, and another file on another mount. */
	fake_put("/three", "3");
	descriptor_put(9, "/three", "mnt_id:\t34\n");
	storage_opened_begin(storage);
	storage_opened_look(storage, 7, &at);
	ck_assert_uint_eq(opened_paths(), 3);
	ck_assert_str_eq(fact->paths[2].type, "tmpfs");
	ck_assert_str_eq(fact->paths[2].because, "tmpfs is in memory");
	ck_assert(!fact->more);
	ck_assert(storage_opened_how(fact, text, sizeof(text)));
	ck_assert_ptr_nonnull(strstr(text, "2 looks"));
	ck_assert_ptr_nonnull(strstr(text, "opened and closed in between is missing"));
	storage_opened_refused(storage);
	storage_opened_how(fact, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "1 times a process might not be looked at"));
}
END_TEST

/* Many descriptors take several looks, of which each goes on where the last one ended, and many files a bounded room. */
START_TEST(test_opened_many)
{
	enum { FILES = 300, DESCRIPTORS = 1100 };
	char name[32], text[STORAGE_OPENED_TEXT];
	u32 looks = 0;
	u64 at = 0;

	for (u32 i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "/many/%u", i);
		fake_put(name, "");
	}
	fake_put("/proc/7/fdinfo/0", "mnt_id:\t27\n");
	link_put("/proc/7/fd/0", "/many");
	for (u32 i = 1; i < DESCRIPTORS; i++) {
		char path[1024], full[1024];

		snprintf(path, sizeof(path), "%s/proc/7/fd/%u", fake_root, i);
		snprintf(full, sizeof(full), "%s/many/%u", fake_root, i % FILES);
		ck_assert_int_eq(symlink(full, path), 0);
	}
	do {
		storage_opened_begin(storage);
		storage_opened_look(storage, 7, &at);
		looks++;
	} while (at && looks < 10);
	ck_assert_uint_eq(looks, 5);
	ck_assert_uint_eq(opened_paths(), STORAGE_OPENED);
	ck_assert(storage_facts(storage)->more);
	storage_opened_how(storage_facts(storage), text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "there were more than these"));
	/* A look at many processes ends, too. */
	storage_opened_begin(storage);
	for (looks = 0; storage_opened_look(storage, 9, &at) != STORAGE_LOOK_OVER; looks++)
		ck_assert_uint_lt(looks, 1000);
}
END_TEST

/* Of ourselves: what is open for writing is not, nor what programs that we start do not get. */
START_TEST(test_opened_here)
{
	struct caps_context real;
	struct storage *own;
	char read_path[1024], given_path[1024], write_path[1024];
	u32 read_seen = 0, given_seen = 0;
	int fd[3];
	u64 at = 0;

	fake_put("/read", "r");
	fake_put("/given", "g");
	fake_put("/written", "w");
	snprintf(read_path, sizeof(read_path), "%s/read", fake_root);
	snprintf(given_path, sizeof(given_path), "%s/given", fake_root);
	snprintf(write_path, sizeof(write_path), "%s/written", fake_root);
	fd[0] = open(read_path, O_RDWR | O_CLOEXEC);
	fd[1] = open(given_path, O_RDONLY);
	fd[2] = open(write_path, O_WRONLY);
	caps_init(&real, "");
	own = storage_new(&real, &nothing);
	storage_opened_given(own);
	storage_opened_begin(own);
	storage_opened_look(own, (u32)getpid(), &at);
	storage_opened_describe(own);
	for (size_t i = 0; i < storage_facts(own)->npaths; i++) {
		const struct storage_path *path = &storage_facts(own)->paths[i];

		ck_assert_str_ne(path->path, write_path);
		ck_assert(path->type || path->because);
		if (!strcmp(path->path, read_path) && storage_is_opened(path))
			read_seen++;
		if (!strcmp(path->path, given_path) && !strcmp(path->role, "inherited"))
			given_seen++;
	}
	ck_assert_uint_eq(read_seen, 1);
	ck_assert_uint_eq(given_seen, 1);
	storage_free(own);
	for (size_t i = 0; i < 3; i++)
		close(fd[i]);
}
END_TEST

START_TEST(test_lines)
{
	char text[256], out[64];
	struct storage_mount m;
	size_t length;

	strcpy(text, "1 2 3:4 / /a\\134b rw - ext4 /dev/x rw,y");
	ck_assert(storage_parse_mount(text, &m));
	ck_assert_str_eq(m.place, "/a\\b");
	ck_assert_uint_eq(m.minor, 4);
	strcpy(text, "1 2 3:4 / /a rw - ext4 /dev/x");
	ck_assert(!storage_parse_mount(text, &m));
	strcpy(text, "1 2 3 / /a rw - ext4 /dev/x rw");
	ck_assert(!storage_parse_mount(text, &m));
	strcpy(text, "1 2 3:99999999999999999999999 / /a rw - ext4 /dev/x rw");
	ck_assert(!storage_parse_mount(text, &m));
	ck_assert_ptr_null(storage_option("rw,xupperdir=/no", "upperdir", &length));
	ck_assert(!strncmp(storage_option("rw,upperdir=/up,x", "upperdir", &length), "/up", 3));
	ck_assert_uint_eq(length, 3);
	strcpy(text, "none\n");
	ck_assert_str_eq(storage_chosen(text), "none");
	strcpy(text, "a b\n");
	ck_assert_ptr_null(storage_chosen(text));
	ck_assert_int_eq(storage_number(" 12\n"), 12);
	ck_assert_int_eq(storage_number("-1\n"), -1);
	ck_assert_int_eq(storage_number("12 kB"), -1);
	ck_assert_int_eq(storage_number(""), -1);
	storage_swaps("Filename\n", out, sizeof(out));
	ck_assert_str_eq(out, "none");
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("storage");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_stack);
	tcase_add_test(t, test_anonymous);
	tcase_add_test(t, test_missing);
	tcase_add_test(t, test_endless);
	tcase_add_test(t, test_machine);
	tcase_add_test(t, test_here);
	tcase_add_test(t, test_opened);
	tcase_add_test(t, test_opened_many);
	tcase_add_test(t, test_opened_here);
	tcase_add_test(t, test_lines);
	return suite_run("storage", t);
}
