/* SPDX-License-Identifier: MIT */
/* What the files of the session share. */
#ifndef CLI_SESSION_INTERNAL_H
#define CLI_SESSION_INTERNAL_H

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "cli/analyze/block.h"
#include "cli/analyze/ref_map.h"
#include "cli/analyze/window.h"
#include "cli/caps/caps.h"
#include "cli/session/cpus.h"
#include "cli/session/feed.h"
#include "cli/session/ring.h"
#include "cli/session/session.h"
#include "common/perf.h"
#include "common/source_table.h"
#include "common/wire.h"

#define SESSION_TICK_NS (100 * NSEC_PER_MSEC)
#define SESSION_DRAIN_NS (200 * NSEC_PER_MSEC) /* for descendants, after the main child has ended */
#define SERVER_PENDING 64          /* connections whose hello has not come yet */

#define DESCRIPTORS_SPARE 16       /* for hellos: an agent that is not even refused makes its program wait */

/* ---- segment.c: memfds and what lies in them */

struct process;

struct segment {
	struct segment *next;
	int fd;
	off_t released;              /* where the agent is told that nobody reads any more; 0: it need not be */
	struct wire_header *header;  /* its first page, shared with the target: never trusted */
	u32 pid;                     /* of the image it was made for, as we see it */
	u32 wire_pid;                /* as the target sees it: differs in a PID namespace */
	struct process *processes;   /* of it, newest first */
	u32 live;                    /* processes that write to it */
	u32 dead;                    /* processes that ended since it was last read */
	bool unheard;                /* the agent that it was for did not wait for it */
	u32 seen;                    /* ref of the newest process record that is known */
	u64 strangers;               /* slots of processes that nobody knows */
	bool over;                   /* nobody can write to it any more, neither can we */
	bool closed;                 /* all has been read */
	/* For samples: attribute.c. */
	struct attribute_slot *slots;
	u32 nslots;
	u32 first_slot;              /* ref of the newest one known */
	u32 claims;                  /* of the header, when they were read */
	struct ref_map regions;      /* of nodes: region in samples + 1 */
	struct traced *traced;       /* for the trace: tracing.c */
};

struct segment_params {
	enum wire_clock clock;
	u64 ticks_per_ns;
	u32 sources;
	const struct wire_plan *plan; /* NULL: none */
	const struct wire_calls *calls; /* NULL: none */
	const struct wire_files *files; /* NULL: none */
};

/* NULL after a message. */
struct segment *segment_new(const struct segment_params *params);
/* Nothing more is read of it; tells the agent so. */
void segment_close(struct segment *segment);
void segment_free(struct segment *segment);
/* Tells the agent, before it has the segment. 0, or -1. */
int segment_put_functions(struct segment *segment, const struct wire_functions *functions);
/* Where there is no room windows do without. */
void segment_put_files(struct segment *segment, const struct wire_files *files);
/* A private copy of what is used, until segment_drop_copy(). 0, or -1 after a message. */
int segment_copy(const struct segment *segment, struct wire_view *view);
void segment_drop_copy(struct wire_view *view);
/* Whether any process still has it mapped. False for good: its header may only be read after that. */
bool segment_in_use(struct segment *segment);
/* Empties a slot whose thread is gone, after it was read, and gives it back to the agent. */
void segment_reap_slot(const struct segment *segment, struct wire_view *view, u32 slot_ref);

/* ---- chosen.c: which instrumented functions are regions */

/* Before the hello of the segment's process is answered. */
void chosen_tell(struct session *session, struct segment *segment);
/* At the end: patterns that nothing matched. */
void chosen_report(const struct session *session);

/* ---- place.c: the directory of the session */

#define SERVER_PLACE_MOST 64       /* bytes of TMPDIR and the like that leave room for the rest of the path */
/* In the directory, where the agent's own path cannot stand in LD_PRELOAD: links to our libraries, or to their folder. */
#define SERVER_AGENT_LINK "libsparkagent.so"
#define SERVER_FOLDER_LINK "not-libasan.so"

struct place {
	char parent[80];             /* of the sessions of this user; "": none */
	char dir[96];                /* of this one; 0700 */
	int lock;                    /* the directory, locked as long as we live; -1: none */
};

/* Makes it, where it can be, and removes those of sessions that were killed. 0, or -1 without a message. */
int place_make(struct place *place);
void place_remove(struct place *place);

/* ---- server.c: where agents say hello */

struct server {
	struct place place;
	char path[100];
	char invitation[256];        /* value of WIRE_ENV */
	u8 token[WIRE_TOKEN_SIZE];
	int fd[2];                   /* by path; by abstract name */
	bool calling[2];             /* somebody waits there to be accepted */
	struct server_pending {
		int fd;
		pid_t pid;           /* of the peer */
		u64 since_ns;
	} pending[SERVER_PENDING];
	u32 npending;
};

int server_open(struct server *server);
/* A connection that a process was made to make; false: there is no room. */
bool server_expect(struct server *server, int fd, pid_t pid, u64 now_ns);
void server_close(struct server *server);
/* Adds what to poll; returns the number added (room for 2 + SERVER_PENDING). */
u32 server_poll_fds(const struct server *server, struct pollfd *fds);
/* The same descriptors after poll(2). */
void server_polled(struct server *server, const struct pollfd *fds);

struct server_hello {
	int fd;                      /* to answer on, then to be closed by server_answer() */
	struct wire_hello hello;
	pid_t pid;                   /* of the peer, as we see it */
};

/* Takes connections and messages; true: *hello is one to answer. Call until false. */
bool server_receive(struct server *server, struct server_hello *hello, u64 now_ns);
/* memfd -1: none; rings: that the configuration speaks of. False: the agent is gone, or waits no longer. */
bool server_answer(struct server_hello *hello, const struct wire_config *config, int memfd, const struct ring *rings);
/* How long it waited; p, g: its process and its segment, NULL: none. */
void hello_waited(struct session *s, const struct server_hello *hello, bool taken, struct process *p, struct segment *g);
/* At the end: who has said hello, and was not heard while the loop ran. */
void hello_left(struct session *s);

/* ---- spawn.c: the main child */

/* What sparkctl was started with and the child gets. */
struct inherited_signals {
	struct sigaction child, pipe, fsize;
	sigset_t mask;
};

struct inherited_limits {
	struct rlimit nofile, fsize;
};

struct spawn {
	pid_t pid;
	int go;                      /* write end: lets it exec */
	int error;                   /* read end: errno of a failed exec */
	int input, output;           /* of the child, where it does not get ours: else -1 */
	const int *relayed;          /* its output and standard error, if not -1; NULL: ours */
};

/*
 * Forks a child that waits. elf: the file to execute as it is, where no shell may try what the
 * kernel refuses; else NULL. 0 or -1 after a message.
 */
int spawn_start(struct spawn *spawn, char **argv, const char *elf, char **env, const struct inherited_limits *limits,
		const struct inherited_signals *signals);
/*
 * The same at once, where nothing has to be done between fork and exec: without a copy of our memory. *start_ns:
 * when it was about to exec. 0, the errno of its failed exec, or -1 after a message.
 */
int spawn_now(struct spawn *spawn, char **argv, const char *elf, const struct inherited_signals *signals, u64 *start_ns);
/* Lets it exec. 0, or the errno of its failed exec. */
int spawn_go(struct spawn *spawn);
/* One that was not let go, or could not start the command, ends: waits for that. */
void spawn_drop(struct spawn *spawn);
/* Says that this errno came of the exec. */
enum session_end spawn_failed(const char *command, int failed);

/* ---- environment.c: what the target gets */

/* Ours with the agent preloaded, the invitation, and what other tools' markers need. NULL after a message. */
char **target_environment(const struct session_options *options, const char *agent, const char *invitation, const char *dir);
void target_environment_free(char **env);

/* ---- signals.c */

/* Takes a SIGHUP that is ignored out, as by nohup(1): blocked, it would come all the same. */
void signals_spare(sigset_t *set);
/* Blocks those that are for the command, or tell of its end, and opens a descriptor to read them. 0, or -1 after a message. */
int signals_open(struct inherited_signals *before, int *fd);
/* Back to what they were; the descriptor stays open. */
void signals_close(const struct inherited_signals *before);
/* The child was stopped by this signal. */
void signals_stopped(pid_t child, int by);
/* Somebody wants an end. They are blocked while a command is measured, and the loop will deal with them. */
bool signals_ending(void);

/* ---- target.c: what a file tells before its start */

struct target {
	char path[PATH_MAX];         /* as execvp(3) finds it; "": not found */
	char program[PATH_MAX];      /* of a script: what runs it; else "" */
	char obstacle[512];          /* why the agent cannot enter it, with its name; "": none is known */
	bool guarded;                /* the kernel takes an unprivileged user's events off it */
	bool elf;                    /* a program, for whatever machine, and no script */
};

void target_look(struct target *target, const char *command);
/* Adds what the file tells; the obstacle calls it by the name. */
void target_look_file(struct target *target, const char *name, const char *path);

/* ---- attempt.c: opening an event as this kernel, PMU and user's rights allow */

/* The attribute as newer kernels know it: config3 follows what older headers have. */
union event_attr {
	struct perf_event_attr attr;
	struct {
		char older[128];     /* PERF_ATTR_SIZE_VER7 */
		u64 config3;
	} newer;
};

/* What of it had to be given up. */
struct attempt {
	enum { ATTEMPT_ALL, ATTEMPT_USER, ATTEMPT_ANY_SIDE } less;
	bool guest;                  /* the PMU cannot tell guests from hosts */
};

/* Why it need not be tried; NULL: it is to be. */
const char *attempt_futile(const struct event *event);
/* It can be passed on to a task that its task makes. */
bool attempt_heritable(const struct event *event);
/* The attribute of an attempt, disabled, for counting. */
void attempt_attr(const struct event *event, struct attempt attempt, union event_attr *attr);
/*
 * Tries one after the other, by a function that opens an attribute, which it may change, and returns
 * a descriptor or -errno. Returns its last result.
 */
int attempt_open(const struct event *event, int (*open)(void *context, union event_attr *attr, bool heritable),
		 void *context, struct attempt *attempt);
/* Puts the event's filter on it. The descriptor, or closed and -errno. */
int attempt_filter(const struct event *event, int fd);
/* Why it had no counter while others had: no more than that, or the NMI watchdog. */
const char *attempt_idle(const struct caps_context *caps, bool hardware, bool pinned);
/* What is to be said of a count that was got so; NULL: nothing. */
const char *attempt_note(const struct event *event, struct attempt attempt);

/* ---- plan.c: events of -e, for each thread by itself */

#define PLAN_NOTE 400

struct plan {
	struct wire_plan *wire;      /* NULL: none */
	struct profile_event *events; /* of the list, without those named twice */
	u32 nevents;
	char (*notes)[PLAN_NOTE];    /* of each */
	bool *alone;                 /* of the list: no second counter for the whole tree */
};

/*
 * Finds out which events a thread can count at a time, by counting them here for some ms.
 * 0, or -1 after a message: out of memory, or something is left out and options->no_mux.
 */
int plan_make(struct session *session);
void plan_free(struct plan *plan);
/* Of its count: "ns" of clocks, "count", or what it says itself. */
const char *event_unit(const struct event *event);

/* ---- forewarn.c */

struct forewarn {
	char names[200];
	const char *because;         /* of these; NULL: there are none */
	u32 others;
};

void forewarn_add(struct forewarn *forewarn, const char *name, const char *because);
void forewarn_say(const struct forewarn *forewarn);

/* ---- asked.c: events of -e, for the whole tree */

struct totals;

extern const char asked_no_slots[];

struct asked_event {
	int fd;                      /* or -errno */
	struct attempt attempt;
	bool elsewhere;              /* another total is the same */
	int err;                     /* of the newest read */
	struct perf_value value;
	struct perf_value before;    /* what is not this run's: totals_mark() */
	char note[512];
};

struct asked {
	const struct event_list *list; /* NULL: none */
	struct asked_event *event;   /* of each */
	bool pmu;                    /* some event of the CPU's counters could be opened */
	int *keepers;                /* of each event one that stays open from run to run, or -errno; NULL: none */
	size_t nkeepers;
	bool deferred;               /* they wait for asked_enable(), not for the exec */
};

/* Opens the events on the stopped child; they must outlive it. alone: of those that get none; NULL: of none. */
void asked_arm(struct asked *asked, const struct event_list *events, const bool *alone, pid_t child, bool inherit);
void asked_enable(struct asked *asked, bool on);
/* Reads and adds them to the totals. */
void asked_read(struct totals *totals, struct caps_context *caps);
void asked_close(struct asked *asked);
/*
 * All that is open stays so until descriptors_left(), in a process that nobody waits for: the kernel closes some events
 * slowly.
 */
void descriptors_leave(void);
void descriptors_left(void);
/* Until asked_drop(), closing costs the kernel no more than any other event. */
void asked_keep(struct asked *asked, const struct event_list *events);
void asked_drop(struct asked *asked);
/* What they have counted so far is not this run's. */
void asked_mark(struct asked *asked);
/* All of them go from a process to those that it starts. */
bool asked_heritable(const struct event_list *events);
/* Those that the kernel refused, or that cannot be had. */
void asked_forewarn(struct totals *totals, struct caps_context *caps, struct forewarn *forewarn);
/* Why the kernel refuses an event with this errno, and what helps. */
struct outcome asked_reason(struct totals *totals, const struct event *event, int err, struct caps_context *caps);
/* They count the same. */
bool asked_is_same(const struct event *a, const struct event *b);

/* ---- totals.c: the whole tree from outside */

struct total_event;

/* What of the tree ran without the events, since the kernel had taken them off (perf_event_exit_task() at an exec). */
enum totals_hidden { TOTALS_SEEN, TOTALS_LITTLE_HIDDEN, TOTALS_HIDDEN };

#define TOTALS_PROBING (PROBES_MOST + 2) /* those of probing_totals() */

struct totals {
	struct total_event *events;
	int keepers[8];              /* if kept */
	bool kept;
	bool pmu;                    /* some hardware event could be opened */
	bool alone;                  /* the tree never had a second thread or process */
	bool all_software;           /* every software event counted, kernel side too */
	bool asked_hardware;         /* hardware holds the outcome of its probe */
	struct outcome hardware;
	struct asked asked;
	struct total_fact *facts;
	size_t nfacts, room;
	char notes[24][512];
	bool inherit;
	bool unarmed;                /* no event is opened for the tree */
	bool deferred;               /* counting does not begin with the exec: wait4's figures are no substitute */
	enum totals_hidden hidden;
	char hidden_note[400];       /* why, of a value that is missing or incomplete */
};

void totals_keep(struct totals *totals);
/* Opens the events on the stopped child; totals->deferred: to be enabled later. */
void totals_arm(struct totals *totals, pid_t child, bool inherit, const struct event_list *events, const bool *alone);
void totals_enable(struct totals *totals, bool on);
void totals_add(struct totals *totals, const char *name, const char *unit, struct cell cell, const char *source);
/* What the kernel gave for the one added last. */
void totals_add_raw(struct totals *totals, struct total_raw raw);
/* Takes values over that another run has and this one lacks. */
void totals_add_pass(struct totals *totals, const struct totals *other, const struct pass_notes *note);
/* The kernel refused all events, those of software too. */
bool totals_refused(const struct totals *totals);
/* Why it refused one of those that every run has, the first or another one. */
const char *totals_reason(struct totals *totals, size_t i, struct caps_context *caps);
/* It is one of those that every run has. */
bool totals_have(const struct event *event);
/* What the CPU's counters can do here, tried at most once. */
struct outcome totals_hardware(struct totals *totals, struct caps_context *caps);
/* Some total comes from them, or would. */
bool totals_want_hardware(const struct totals *totals);
/*
 * Reads them, with the child's rusage where the kernel gave none. hidden: what the session has seen of it; more of
 * it is found by the CPU time that is missing.
 */
void totals_read(struct totals *totals, struct caps_context *caps, u64 elapsed_ns, const struct rusage *usage,
		 bool reaped, enum totals_hidden hidden);
/* Where the events are our own, for all that we start: what they have counted so far is not the next run's. */
void totals_mark(struct totals *totals);
struct perf_value totals_since(const struct perf_value *now, const struct perf_value *before);
/* Closes the events of this run and forgets its totals; notes and what was kept open stay, for another one. */
void totals_disarm(struct totals *totals);
void totals_close(struct totals *totals);

/* ---- process.c: the processes of the tree */

struct process {
	struct process *older;       /* in by_pid */
	struct process *sibling;     /* in segment->processes */
	struct process_facts facts;
	char *command;
	char *image;
	u32 wire_pid;                /* as in its segment; 0: no agent */
	struct segment *segment;
	int pidfd;                   /* -1: none */
	int io_fd;                   /* of its /proc/PID/io, -1: to be opened when it is read */
	bool alive;
	bool unwatched;              /* only its segment says that it is there; its pid is not to be relied on */
	bool born;                   /* the record of its fork was read */
	u64 image_ns;                /* it is known to have been this image then: older execs are not news */
	bool exec;                   /* it came by exec after a measured image: its usage does not start at 0 */
	bool forked;
	bool harvested;
	struct usage last;           /* newest figures of /proc; estimates without a note are not its final ones */
	struct usage final_sched;    /* of the leader, the only thread that a zombie has */
	bool sampled;                /* last is filled */
	bool sched_sampled;          /* final_sched is */
	bool settled;                /* facts.usage is */
	struct thread_uses *uses;    /* of its threads; NULL: it was started here */
	bool look_always;            /* at all threads, however many */
	struct usage *attached;      /* what it had used when it was attached to; NULL: it was started here */
	u64 children_faults;         /* of those it waited for */
	u32 threads;                 /* that live, by the kernel's records; 0: not tracked */
	bool hidden;                 /* its exec took the kernel's records off it */
	u64 leaving_ns;              /* an exit was told that may have been that; 0: none */
	char *no_agent;              /* why there is none in it; NULL: not known */
	/* portion.c: what it used while that was measured, and had used when that began. */
	struct usage portion, base;
	bool in_portion;             /* base is filled */
	struct thread_history history; /* empty: it never had a second thread */
	bool clocked;                /* its CPU clock is read with the figures of /proc */
	u64 opened_at;               /* where the newest look at its descriptors has left off */
};

#define PROCESS_BUCKETS 4096

struct processes {
	struct process **list;       /* by id */
	size_t count, room;
	struct process **live;       /* may hold ended ones: processes_live() drops them */
	size_t nlive;
	bool clocked;                /* those to come are */
	struct process *by_pid[PROCESS_BUCKETS]; /* newest first */
};

struct process *process_add(struct processes *all, u32 pid, u32 ppid, u64 start_ns);
/* Those alive, in no order; *count of them. Valid until one is added. */
struct process **processes_live(struct processes *all, size_t *count);
/* It writes to the segment. */
void process_join(struct process *process, struct segment *segment);
/* The newest image with the pid that is alive; NULL: none. */
struct process *process_find(const struct processes *all, u32 pid);
/* The newest image that was there at that time. */
struct process *process_find_at(const struct processes *all, u32 pid, u64 ns);
/* The image with the pid that began nearest to that time; NULL: none within so long. */
struct process *process_begun(const struct processes *all, u32 pid, u64 ns, u64 within_ns);
/* Its pid, as the segment has it, may be anybody's: it is neither looked at nor signalled. */
void process_unwatch(struct process *process);
/* It is one of the tree after all: the kernel says so. */
void process_confirm(struct process *process);
/* Sends a signal, to no other process that has its pid by now. */
void process_kill(const struct process *process, int signal_number);
/* What /proc says of its command and image, now. False: nothing any more. */
bool process_describe(struct process *process);
/* It has become another image: its name by the kernel's record, where /proc says nothing, and what may keep the agent out. */
void process_replaced(struct process *process, const char *name);
/* The words of its command, where /proc says nothing any more. */
void process_name(struct process *process, char **argv);
/* A forked child begins as its parent is. */
void process_inherit(struct process *child, const struct process *parent);
/* What is of use in /proc/PID/stat; times are clock ticks. */
struct process_stat {
	char state;
	u32 parent;
	u64 minflt, children_minflt, majflt, utime, stime, threads;
	u64 children_majflt, children_utime, children_stime; /* of those it waited for */
	u64 delay;                   /* waits for disks of the thread, or the first one, where the kernel accounts them */
	int exit;                    /* wait status of a zombie */
};

/* Takes the text apart, which it changes; false: it is none. */
bool process_stat_parse(char *text, struct process_stat *stat);
/* The same from /proc/PID/stat; false: gone. */
bool process_stat(u32 pid, struct process_stat *stat);
/* The same of a thread. */
bool process_thread_stat(u32 pid, u32 tid, struct process_stat *stat);
/* Clock ticks as time. */
u64 process_ticks_ns(u64 ticks);
/* The pid of its parent, now; 0: gone. */
u32 process_parent(u32 pid);
/* It has ended, or become another image. */
void process_end(struct process *process, enum process_end how, u64 end_ns);
/* Reads /proc/PID/NAME as text; its length, or -errno. */
ssize_t process_read_file(u32 pid, const char *name, char *text, size_t size);
void processes_free(struct processes *all);

/* ---- offspring.c: who descends from whom */

struct offspring {
	struct descendant {
		u32 pid, parent;
		bool ours;
	} *list;                     /* by pid */
	size_t n, room;
};

/* Waits for children that have ended, for this one not. Whether there are any children left, or that one. */
bool offspring_reap(pid_t but);
/* It descends from sparkctl, by the parents that it has now. */
bool offspring_includes(u32 pid);
/* Descendants that live, without these and whom they have started since. 0; -1: not all of them could be found. */
int offspring_find(struct offspring *found, pid_t of, const struct offspring *without);
/* Sends it to all of them that are below sparkctl, but to this one. */
void offspring_kill(const struct offspring *all, int signal_number, pid_t but);
void offspring_free(struct offspring *all);

/* ---- sample.c: what a process has used */

/*
 * Opens what only root may open once the process is a zombie, or has changed its user: to read is
 * allowed then.
 */
void process_keep_open(struct process *process);
/*
 * Its figures from /proc; false: gone. sources: as asked for; the figures of source sched are only
 * added up over threads if it is among them. *status: the wait status of a zombie, else -1.
 */
bool process_sample(struct process *process, u32 sources, int *status);
/* ---- thread_uses.c: what threads have used, of a process that was attached to */

struct thread_uses;

/* NULL: no memory. */
struct thread_uses *thread_uses_new(void);
void thread_uses_free(struct thread_uses *uses);
/* Reads them into process->last; of very many threads only if always. threads: that there are. */
void thread_uses_look(struct process *process, u64 threads, bool always);
/* Of /proc/PID/status. False: it has none. */
bool thread_uses_parse(const char *status, u64 *voluntary, u64 *involuntary);

/* ---- sample.c */

/* The same where they must be those of now, of each thread. */
void process_look(struct process *process, u32 sources);
/* The main child was waited for, after process_sample() of the zombie. */
void process_reaped(struct process *process, const struct rusage *usage);
/* Settles its usage from the agent's record, and what that lacks from /proc; wire may be NULL. */
void process_settle(struct process *process, const struct wire_process *wire);

/* ---- track.c: the kernel's own records of the tree */

#define TRACK_CPUS 32

struct track_event {
	u64 time_ns;
	u32 pid, ppid, tid, ptid;
	u32 type;                    /* PERF_RECORD_FORK, _EXIT, or _COMM: an exec */
	char name[16];               /* of an exec */
};

struct track {
	struct ring rings[TRACK_CPUS];
	u32 count;                   /* 0: not to be had */
	size_t pages;                /* of each ring */
	int err;                     /* why, if it was tried */
	u64 lost;
	struct track_event *events;
	size_t nevents, room;
	struct feed feed;            /* of what was attached to */
};

void track_open(struct track *track, pid_t child);
/* The same for threads that run already, which are then to be added. */
void track_open_attached(struct track *track);
/* 0 or -errno. */
int track_add(struct track *track, pid_t tid);
/* Copies what the rings hold into track.events, in no order, and leaves it there. Whether nothing of it is lost. */
bool track_look(struct track *track);
void track_close(struct track *track);
/* Takes the records of a ring up to a time into track.events. */
void track_take(struct track *track, struct ring *ring, u64 until_ns);
/* Takes what the rings hold; last: also the newest. */
void track_drain(struct session *session, bool last);

/* When a process ended that is gone now, or found alive at the end: by its record, if that was one of its end. */
u64 track_end(struct session *session, struct process *process, u64 now_ns);

/* ---- count.c */

/* The soft limit of descriptors to the hard one; *before: what it was. */
void count_raise_limit(struct rlimit *before);

/* The descriptor, or closed and -1 with EMFILE where it is one of so many spare ones. */
int descriptor_keep(int fd, unsigned int spare);

/* ---- origin.c: the provenance */

struct origin {
	struct provenance facts;
	char environment[24];
	struct origin_object *objects; /* which files those of facts are */
	size_t room;
};

void origin_start(struct session *session);
/*
 * The files that a process has mapped for execution become known, in two steps: the first needs the
 * process, the second reads the files and takes longer.
 */
struct origin_map {
	char *text;                  /* of /proc/PID/maps, or NULL */
	int root;                    /* its root directory, or -1 */
};

void origin_map(const struct session *session, u32 pid, struct origin_map *map);
/* Frees the map too. */
void origin_objects(struct session *session, struct origin_map *map);
void origin_free(struct origin *origin);

/* ---- the session */

struct session {
	const struct session_options *options;
	struct caps_context caps;
	struct server server;
	struct spawn spawn;
	struct totals totals;
	struct plan plan;
	struct processes processes;
	struct track track;
	struct origin origin;
	struct sampling *sampling;   /* NULL: none */
	struct tracing *tracing;     /* NULL: none */
	struct functions *functions; /* with names; NULL: none yet */
	u64 patterns_met;            /* of options.functions, by number */
	u64 instrumented_objects;    /* where those were looked for */
	struct probing *probing;     /* NULL: none */
	struct blockio *blockio;     /* NULL: not asked for */
	struct portion *portion;     /* NULL: all is measured */
	struct storage *storage;     /* NULL: nobody asked, or not yet */
	size_t opened_next;          /* of the living: whose descriptors are looked at first */
	struct cache *cache;         /* the same */
	struct windows *windows;     /* one by one; NULL: none yet */
	struct cgroup_own *group;    /* NULL: the command stays in ours */
	struct segment *segments;
	struct segment *ready;       /* for the next hello */
	struct profile profile;
	struct clock_map clock;
	enum wire_clock clock_kind;
	u64 ticks_per_ns;            /* 32.32 */
	u64 start_ns, start_ticks;
	u64 end_ns;
	u64 next_tick_ns;
	u64 kill_ns;                 /* --timeout: when to kill for good, and again; 0: not yet */
	u64 killed_ns;               /* when it was done first; 0: not yet */
	int signal_fd;
	struct inherited_signals signals;
	u32 interrupts;
	int interrupted;             /* by the last of them; 0: by none */
	bool main_ended;
	int wait_status;
	struct rusage usage;
	bool stop;                   /* report now */
	bool over;                   /* all has been read */
	bool timed_out;
	u32 hellos;
	u32 mismatches;              /* hellos of another version */
	u64 start_waits;             /* agents that waited for us: see session_facts */
	u64 start_longest_ns;
	u64 start_unheard;
	u64 unmeasured;              /* images for which there was no segment */
	u64 refill_ns;               /* when to try again to make one */
	u64 unreadable;              /* segments that could not be read */
	u64 unstarted;               /* agents that said hello and could not go on */
	u32 hidden;                  /* processes that the kernel's records left at an exec */
	bool main_hidden;            /* the command is one of them */
	struct session_facts facts;
	struct process_facts *process_facts;
	struct capability_fact capabilities[CAPS_MOST];
	struct outcome outcomes[CAPS_MOST];
	bool probed;                 /* outcomes are those of before the start */
	u64 watch_ns;                /* when the watcher looks next; 0: never */
	struct loss_fact losses[9];
	char host[80], kernel[200], cpu[128];
	struct target target;
	struct wire_files *files;    /* taken at both edges of windows; NULL: none */
	char *disks;                 /* see struct profile */
	bool loading;                /* the agent is being loaded: nothing is counted yet */
	u64 loading_ns;              /* what it took to load the agent: not of the duration that was asked for */
	bool attached;               /* to what runs already: there is no command */
};

/* ---- session.c */

/* Which events regions have. 0, or -1 after a message. */
int session_plan(struct session *s);
/* NULL after a message. */
struct session *session_new(const struct session_options *options);
/* Nothing is measured any more: reads what is left, and states the facts. */
void session_finish(struct session *s);

/* ---- surroundings.c: the storage of a run, and the page cache that the command finds */

/* Before the command starts, if the page cache is to be in some state then. 0, or -1 after a message. */
int surroundings_prepare(struct session *s);
/* While it starts. */
void surroundings_look(struct session *s);
/* Each tick: what files its processes have open. */
void surroundings_tick(struct session *s);
/* When it has ended. */
void surroundings_end(struct session *s);
void surroundings_facts(struct session *s);
/* Those of another run of the command. */
void surroundings_add(struct session *s, const struct session *other);
void surroundings_free(struct session *s);

/* ---- files.c */

/* What is read at the edges of windows, once. Without files or disks: they do not fit, or there is no memory. */
void files_choose(struct session *s);

/* ---- disk_kind.c */

/* By its name, as /proc/diskstats has it. */
enum block_kind disk_kind(const char *name);

/* ---- clock.c */

void session_clock_start(struct session *s);
/* Another pair, and the rate for the agents. */
void session_clock_tick(struct session *s);
/* Takes what rings and segments hold, before it is too much for them. */
void session_drain(struct session *s);
u64 session_ticks(const struct session *s);
/* CLOCK_MONOTONIC_RAW. */
u64 session_now(void);

/* ---- harvest.c: from segments to the profile */

/* The process of a segment by its pid there; NULL: not known. A reused pid means the newest. */
struct process *segment_process(const struct segment *segment, u32 wire_pid);
/* Processes that forked inside the segment become known. */
void harvest_discover(struct session *s, struct segment *segment);
/* Reads the slots of threads and processes that are gone, and frees them, where enough has gathered. */
void harvest_dead(struct session *s, struct segment *segment);
/* Reads all that is left and closes the segment. */
void harvest_all(struct session *s, struct segment *segment);
/* Adds what the segment holds now to a profile, and leaves all as it is. */
void harvest_look(struct session *s, struct segment *segment, struct profile *to);
/* The same of regions alone. */
void harvest_look_regions(struct session *s, struct segment *segment, struct profile *to);

/* ---- survive.c */

/* Processes of the tree that carry our invitation and are not known yet become known. */
void survivors_find(struct session *s);

/* ---- facts.c */

/* Those of now; again and again. */
void session_collect_facts(struct session *s);
/* Tries what can be measured here, where all of it is to be in the report. */
void session_probe(struct session *s);

/* ---- steered.c */

/* Right before the command starts. */
void session_steer_start(struct session *s);
/* The command has ended. */
void session_steer_ended(struct session *s);
/* Nobody is waited for any more: where that is later than the command's end it is the last interval's too. */
void session_steer_over(struct session *s, u64 now);
/* For how long was counted, until then. */
u64 session_counted(const struct session *s, u64 end);
/* States what was counted beside the command, where that is asked for. */
void session_steer_facts(struct session *s, u64 end);

/* Says what of that which was asked for will not be counted. */
void session_forewarn(struct session *s);
/* The same of descendants that are to be waited for. */
void session_forewarn_tree(struct session *s);

/* ---- timeout.c */

/* Ends the tree if it is time. */
void session_timeout(struct session *s, u64 now);

/* ---- watch.c */

/* Shows the watcher what is known so far, if it is time. */
void session_watch(struct session *s, u64 now);
/* Shows the reporter what is known now. */
void session_report(struct session *s);

/* ---- loop.c */

/* Until the command has ended, and its descendants where asked. */
void session_loop(struct session *s);
struct segment_params session_segment_params(const struct session *s);
void session_hello(struct session *s, struct server_hello *hello);
/* status: as of wait(2), -1: not known; end_ns: since the start. */
void session_process_gone(struct process *p, int status, u64 end_ns);
/* Its successor by exec; NULL after a message. */
struct process *session_image_replaced(struct session *s, struct process *old, u64 at_ns);

#endif
