/* SPDX-License-Identifier: MIT */
/* Names that have no place in somebody else's process. Included last by every file of the agent. */
#ifndef SPARK_AGENT_BANNED_H
#define SPARK_AGENT_BANNED_H

#pragma GCC poison malloc calloc realloc free strdup printf fprintf snprintf puts
#pragma GCC poison pthread_mutex_lock sem_wait exit abort raise kill sleep usleep
#pragma GCC poison sigaction signal setitimer dlsym dlvsym dlopen dlclose dlerror getenv

#endif
