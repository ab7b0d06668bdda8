/* The lock: recursive, and free in a child process, whatever its parent held. */
#define _GNU_SOURCE
#include "base/lock.h"

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static __thread int times_held;

static void make_lock(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &kind);
    pthread_mutexattr_destroy(&kind);
}

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void prepare(void) {
    make_lock();
    pthread_atfork(before_fork, after_fork, make_lock);
}

struct held lock_driver(void) {
    pthread_once(&prepared, prepare);
    pthread_mutex_lock(&lock);
    times_held++;
    return (struct held){0};
}

void unlock_driver(struct held *held) {
    (void)held;
    times_held--;
    pthread_mutex_unlock(&lock);
}

int lock_release(void) {
    int times = times_held;
    while (times_held) unlock_driver(NULL);
    return times;
}

void lock_take(int times) {
    while (times--) lock_driver();
}
