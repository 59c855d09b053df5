/* SPDX-License-Identifier: MIT */
/*
 * agent/name: one ref for one name, whoever asks; nothing is lost when the tables are full but the
 * name.
 */
#include "agent_harness.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY 10000u
#define THREADS 8u
#define SHARED 5000u
#define ALL (WIRE_NAMES + 2000u)
#define FIRST_TABLE 768u           /* names that the small table takes */

static u32 refs[ALL];

static const char *numbered(char *text, const char *prefix, u32 i)
{
	sprintf(text, "%s-%u", prefix, i);
	return text;
}

static int compare_refs(const void *a, const void *b)
{
	const u32 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static u32 distinct(const u32 *from, u32 n)
{
	u32 *sorted = malloc(n * sizeof(*sorted)), count = 0;

	ck_assert_ptr_nonnull(sorted);
	memcpy(sorted, from, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_refs);
	for (u32 i = 0; i < n; i++)
		count += !i || sorted[i] != sorted[i - 1];
	free(sorted);
	return count;
}

static void assert_named(u32 ref, const char *name)
{
	ck_assert(harness_name_is(ref, name, strlen(name)));
}

START_TEST(test_same)
{
	char copy[] = "parse";
	u32 ref = name_intern("parse");

	assert_named(ref, "parse");
	ck_assert_uint_eq(name_intern(copy), ref);
	copy[0] = 'P';
	ck_assert_uint_ne(name_intern(copy), ref);
	assert_named(ref, "parse");
	assert_named(name_intern(""), "");
	ck_assert_uint_eq(name_intern(""), name_intern(""));
	assert_named(name_intern("\x1b[31m\n\xff;"), "\x1b[31m\n\xff;");
	assert_named(name_other(), "[other]");
	ck_assert_uint_eq(name_intern("[other]"), name_other());
}
END_TEST

/* Lengths around the hash's step of eight bytes: prefixes of one another. */
START_TEST(test_prefixes)
{
	char text[40];

	memset(text, 'a', sizeof(text));
	for (u32 i = 0; i < 32; i++) {
		text[i] = 0;
		refs[i] = name_intern(text);
		assert_named(refs[i], text);
		text[i] = 'a';
	}
	ck_assert_uint_eq(distinct(refs, 32), 32);
}
END_TEST

START_TEST(test_many)
{
	u64 lost = harness_loss(WIRE_LOSS_NAMES);
	char text[32];

	for (u32 i = 0; i < MANY; i++)
		refs[i] = name_intern(numbered(text, "many", i));
	ck_assert_uint_eq(distinct(refs, MANY), MANY);
	for (u32 i = 0; i < MANY; i++) {
		ck_assert_uint_eq(name_intern(numbered(text, "many", i)), refs[i]);
		assert_named(refs[i], text);
	}
	ck_assert_uint_eq(harness_loss(WIRE_LOSS_NAMES), lost);
}
END_TEST

/* ---- names of one hash: key_of() of name.c backwards, for 16 bytes */

#define K 0x9e3779b97f4a7c15ULL

static u64 odd_inverse(u64 k)
{
	u64 x = k;

	for (u32 i = 0; i < 5; i++)
		x *= 2 - k * x;
	return x;
}

static u64 unfold(u64 h, u32 shift)
{
	u64 x = h;

	for (u32 i = shift; i < 64; i += shift)
		x = h ^ x >> shift;
	return x;
}

/* The 16-byte name that begins with `first` and has the hash; false: it would contain a zero. */
static bool name_of_hash(char *text, u64 first, u64 hash)
{
	u64 k = odd_inverse(K), h = K ^ 16, after;

	h = (h ^ first) * K;
	h ^= h >> 29;
	after = unfold(hash, 29) * k;
	after = unfold(after, 32) * k;
	after = (unfold(after, 29) * k) ^ h;
	memcpy(text, &first, 8);
	memcpy(text + 8, &after, 8);
	text[16] = 0;
	return strlen(text) == 16;
}

/* n names of hashes that agree in the bits of the mask. */
static void collide(u32 n, u64 mask)
{
	u64 hash = 0x0123456789abcdefULL, first = 0x6161616161616161ULL;
	static char text[64][17];
	struct wire_name *name;

	ck_assert_uint_le(n, 64);
	for (u32 i = 0; i < n; first++) {
		if (!name_of_hash(text[i], first, hash ^ (i & ~mask)))
			continue;
		refs[i] = name_intern(text[i]);
		name = segment_ptr(refs[i]);
		ck_assert_msg(name->hash == (hash ^ (i & ~mask)), "the hash of name.c is another one now");
		i++;
	}
	ck_assert_uint_eq(distinct(refs, n), n);
	for (u32 i = 0; i < n; i++) {
		ck_assert_uint_eq(name_intern(text[i]), refs[i]);
		assert_named(refs[i], text[i]);
	}
}

START_TEST(test_equal_hash_prefix)
{
	collide(64, ~0ULL << 32);
}
END_TEST

START_TEST(test_equal_hash)
{
	collide(64, ~0ULL);
}
END_TEST

/* ---- long ones */

START_TEST(test_cut)
{
	static const u32 lengths[] = { 1023, 1024, 1025, 4096, 100000 };
	static char text[100001];

	for (u32 i = 0; i < ARRAY_SIZE(lengths); i++) {
		const struct wire_name *name;

		memset(text, 'x', lengths[i]);
		text[lengths[i]] = 0;
		refs[i] = name_intern(text);
		name = segment_ptr(refs[i]);
		ck_assert_uint_eq(name->length, MIN(lengths[i], WIRE_NAME_MAX));
		ck_assert_uint_eq(name->full_length, lengths[i]);
		ck_assert(harness_name_is(refs[i], text, MIN(lengths[i], WIRE_NAME_MAX)));
		ck_assert_uint_eq(name_intern(text), refs[i]);
	}
	ck_assert_uint_eq(distinct(refs, ARRAY_SIZE(lengths)), ARRAY_SIZE(lengths));
}
END_TEST

START_TEST(test_differ_after_the_cut)
{
	char a[1101], b[1101];

	memset(a, 'y', 1100);
	a[1100] = 0;
	memcpy(b, a, sizeof(b));
	b[1099] = 'z';
	ck_assert_uint_ne(name_intern(a), name_intern(b));
	ck_assert(harness_name_is(name_intern(a), a, WIRE_NAME_MAX));
	ck_assert(harness_name_is(name_intern(b), a, WIRE_NAME_MAX));
}
END_TEST

/* ---- full */

START_TEST(test_full)
{
	u64 lost = harness_loss(WIRE_LOSS_NAMES);
	u32 other = name_other(), kept = 0;
	char text[32];

	for (u32 i = 0; i < ALL; i++) {
		refs[i] = name_intern(numbered(text, "full", i));
		kept += refs[i] != other;
	}
	ck_assert_uint_ge(kept, WIRE_NAMES - 1024);
	ck_assert_uint_le(kept, WIRE_NAMES);
	ck_assert_uint_eq(distinct(refs, kept), kept);
	for (u32 i = kept; i < ALL; i++)
		ck_assert_uint_eq(refs[i], other);
	ck_assert_uint_eq(harness_loss(WIRE_LOSS_NAMES) - lost, ALL - kept);
	for (u32 i = 0; i < kept; i++)
		ck_assert_uint_eq(name_intern(numbered(text, "full", i)), refs[i]);
	ck_assert_uint_eq(harness_loss(WIRE_LOSS_NAMES) - lost, ALL - kept);
	assert_named(other, "[other]");
}
END_TEST

/* Regions of names that found no room are one region, each call of which counts. */
START_TEST(test_full_regions)
{
	char text[32];

	region_name_begin("early");
	region_name_end("early");
	for (u32 i = 0; i < ALL; i++)
		name_intern(numbered(text, "full", i));
	region_name_begin("outer");
	for (u32 i = 0; i < 100; i++) {
		region_name_begin(numbered(text, "late", i));
		region_name_end(text);
	}
	region_name_end("outer");
	ck_assert_uint_eq(harness_diagnosed(WIRE_DIAG_UNMATCHED, NULL), 0);
	ck_assert_uint_eq(harness_region("[other];[other]").calls, 100);
	ck_assert_uint_eq(harness_named("[other]").calls, 101);
}
END_TEST

/* ---- many threads */

static u32 by_thread[THREADS][SHARED];

static void intern_shared(u32 index)
{
	char text[32];

	for (u32 i = 0; i < SHARED; i++)
		by_thread[index][i] = name_intern(numbered(text, "shared", i));
}

START_TEST(test_threads)
{
	char text[32];

	harness_threads(THREADS, intern_shared);
	for (u32 i = 0; i < SHARED; i++) {
		numbered(text, "shared", i);
		for (u32 k = 0; k < THREADS; k++) {
			assert_named(by_thread[k][i], text);
			/* Mostly the same ref; where not, both are of the name, and an end finds its begin. */
			ck_assert_msg(name_same(by_thread[k][i], name_intern(text)), "%s: two names", text);
		}
	}
	ck_assert_uint_eq(distinct(by_thread[0], SHARED), SHARED);
}
END_TEST

/* The last name of the small table: threads must not put it into both. */
static u32 arrived;

static void intern_last(u32 index)
{
	fetch_add(&arrived, 1);
	while (load_acquire(&arrived) < 2)
		;
	by_thread[index][0] = name_intern("last");
}

static void edge(void *arg)
{
	char text[32];

	(void)arg;
	for (u32 i = 1; i < FIRST_TABLE; i++)
		name_intern(numbered(text, "fill", i));
	harness_threads(2, intern_last);
	if (by_thread[0][0] != by_thread[1][0])
		_exit(1);
}

START_TEST(test_threads_at_the_edge)
{
	u32 bad = 0;

	for (u32 i = 0; i < 300; i++)
		bad += harness_fork(edge, NULL) != 0;
	ck_assert_msg(!bad, "in %u of 300 processes a name got two refs", bad);
}
END_TEST

/* ---- call sites */

START_TEST(test_site)
{
	static const char one[] = "site one", two[] = "site two";
	unsigned long a = 0, b = 0, kept;
	u32 ref = name_site(&a, one);

	assert_named(ref, one);
	ck_assert_uint_ne(a, 0);
	kept = a;
	ck_assert_uint_eq(name_site(&a, one), ref);
	ck_assert_uint_eq(a, kept);
	ck_assert_uint_eq(name_site(&b, one), ref);
	ck_assert_uint_eq(name_intern(one), ref);
	/* The word does not speak for another address. */
	assert_named(name_site(&a, two), two);
	ck_assert_uint_eq(name_site(&a, one), ref);
}
END_TEST

/* More sites than there is room for: slower, and right. */
START_TEST(test_sites_full)
{
	static char text[5000][16];
	static unsigned long sites[5000];

	for (u32 round = 0; round < 2; round++)
		for (u32 i = 0; i < 5000; i++) {
			numbered(text[i], "s", i);
			assert_named(name_site(&sites[i], text[i]), text[i]);
		}
}
END_TEST

static unsigned long shared_sites[1000];
static char shared_texts[1000][16];

static void use_sites(u32 index)
{
	for (u32 i = 0; i < 1000; i++)
		by_thread[index][i] = name_site(&shared_sites[i], shared_texts[i]);
}

START_TEST(test_site_threads)
{
	for (u32 i = 0; i < 1000; i++)
		numbered(shared_texts[i], "shared-site", i % 500);
	harness_threads(THREADS, use_sites);
	for (u32 i = 0; i < 1000; i++)
		for (u32 k = 0; k < THREADS; k++)
			assert_named(by_thread[k][i], shared_texts[i]);
}
END_TEST

/* Whoever is first: "[other]" is one name. */
static void intern_other(u32 index)
{
	by_thread[index][0] = name_other();
}

START_TEST(test_other_threads)
{
	harness_threads(THREADS, intern_other);
	for (u32 k = 0; k < THREADS; k++)
		ck_assert_uint_eq(by_thread[k][0], name_other());
}
END_TEST

START_TEST(test_null)
{
	u64 lost = harness_loss(WIRE_LOSS_NULL_NAMES);
	unsigned long site = 0;

	region_name_begin(NULL);
	region_name_end(NULL);
	region_site_begin(&site, NULL);
	region_begin(&(struct spark_region)SPARK_REGION(NULL));
	ck_assert_uint_eq(harness_loss(WIRE_LOSS_NULL_NAMES) - lost, 4);
	ck_assert_uint_eq(site, 0);
	ck_assert_uint_eq(harness_slots(), 0);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *t = tcase_create("name");

	(void)argc;
	harness_start(argv, 0, 0);
	tcase_add_checked_fixture(t, harness_setup, NULL);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_same);
	tcase_add_test(t, test_prefixes);
	tcase_add_test(t, test_many);
	tcase_add_test(t, test_equal_hash_prefix);
	tcase_add_test(t, test_equal_hash);
	tcase_add_test(t, test_cut);
	tcase_add_test(t, test_differ_after_the_cut);
	tcase_add_test(t, test_full);
	tcase_add_test(t, test_full_regions);
	tcase_add_test(t, test_threads);
	tcase_add_test(t, test_threads_at_the_edge);
	tcase_add_test(t, test_site);
	tcase_add_test(t, test_sites_full);
	tcase_add_test(t, test_site_threads);
	tcase_add_test(t, test_other_threads);
	tcase_add_test(t, test_null);
	return suite_run("agent name", t);
}
