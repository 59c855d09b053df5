/* SPDX-License-Identifier: MIT */
/* The tree of calls; see stacks.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze/pair_map.h"
#include "cli/analyze/stacks_build.h"

struct stacks_growing {
	struct stacks *stacks;
	struct pair_map map;
	struct stacks_node *nodes;   /* parents before their children */
	u32 n, room;
};

static int stacks_grow(struct stacks_growing *growing)
{
	u64 room = growing->room ? (u64)growing->room * 2 : 256;
	struct stacks_node *nodes;

	if (growing->n < growing->room)
		return 0;
	nodes = room < SAMPLES_NONE ? realloc(growing->nodes, room * sizeof(*nodes)) : NULL;
	if (!nodes)
		return -1;
	growing->nodes = nodes;
	growing->room = (u32)room;
	return 0;
}

/* Of a function below a node; SAMPLES_NONE when memory is short. */
static u32 stacks_child(struct stacks_growing *growing, u32 parent, u32 function)
{
	u32 number, n = growing->n;

	if (stacks_grow(growing) != 0 || !pair_map_number(&growing->map, parent, function, &growing->n, &number))
		return SAMPLES_NONE;
	if (growing->n != n)
		growing->nodes[number] = (struct stacks_node){
			.function = function, .parent = parent,
			.depth = parent == SAMPLES_NONE ? 0 : growing->nodes[parent].depth + 1 };
	return number;
}

static int stacks_tree_row(void *context, u32 number)
{
	struct stacks_growing *growing = context;
	const struct samples_row *row = &growing->stacks->samples->rows[number];
	u32 i = stacks_steps(growing->stacks, number), node = SAMPLES_NONE;

	while (i--) {
		node = stacks_child(growing, node, growing->stacks->steps[i].function);
		if (node == SAMPLES_NONE)
			return -1;
		stacks_count(&growing->nodes[node].total, row);
		if (!i)
			stacks_count(&growing->nodes[node].self, row);
	}
	return 0;
}

/* Siblings together, the greatest first. */
static int stacks_node_order(const void *a, const void *b, void *context)
{
	const struct stacks_node *nodes = context;
	u32 i = *(const u32 *)a, k = *(const u32 *)b;
	int order;

	/* Those without a parent first, since their parent's number + 1 is 0. */
	if (nodes[i].parent != nodes[k].parent)
		return nodes[i].parent + 1 < nodes[k].parent + 1 ? -1 : 1;
	order = stacks_sum_order(&nodes[i].total, &nodes[k].total);
	return order ? order : i < k ? -1 : 1;
}

/* The nodes depth first; NULL when memory is short. */
static struct stacks_node *stacks_arrange(const struct stacks_growing *growing)
{
	const struct stacks_node *nodes = growing->nodes;
	u32 n = growing->n, i, out = 0, top = 0, *order = calloc((size_t)n + 1, sizeof(*order));
	u32 *first = calloc((size_t)n + 2, sizeof(*first)), *stack = calloc((size_t)n + 1, sizeof(*stack));
	u32 *number = calloc((size_t)n + 1, sizeof(*number));
	struct stacks_node *arranged = calloc((size_t)n + 1, sizeof(*arranged));

	if (!order || !first || !stack || !number || !arranged) {
		free(arranged);
		arranged = NULL;
		n = 0;
	}
	for (i = 0; i < n; i++)
		order[i] = i;
	if (n)
		qsort_r(order, n, sizeof(*order), stacks_node_order, growing->nodes);
	/* first[parent + 1]: where its children begin; they end where those of the next begin. */
	for (i = 0; i < n; i++)
		first[nodes[i].parent + 1]++;
	for (i = n + 1; arranged && i--;)
		first[i] = i == n ? n - first[n] : first[i + 1] - first[i];
	for (i = n ? first[1] : 0; i--;)
		stack[top++] = order[i];
	while (top) {
		u32 node = stack[--top], k = node + 1 == n ? n : first[node + 2];

		number[node] = out;
		arranged[out] = nodes[node];
		if (nodes[node].parent != SAMPLES_NONE)
			arranged[out].parent = number[nodes[node].parent];
		out++;
		while (k-- > first[node + 1])
			stack[top++] = order[k];
	}
	free(order);
	free(first);
	free(stack);
	free(number);
	return arranged;
}

int stacks_tree(struct stacks *stacks, const struct stacks_scope *scope, struct stacks_node **nodes, size_t *n)
{
	struct stacks_growing growing = { .stacks = stacks };
	int err = stacks_each(stacks, scope, stacks_tree_row, &growing);

	*nodes = err ? NULL : stacks_arrange(&growing);
	*n = growing.n;
	pair_map_fini(&growing.map);
	free(growing.nodes);
	return *nodes ? 0 : -1;
}
