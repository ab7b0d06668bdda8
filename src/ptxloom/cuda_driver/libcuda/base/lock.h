/* The driver's one lock, which every function holds while it runs. */
#ifndef PTXLOOM_LOCK_H
#define PTXLOOM_LOCK_H

struct held {
    int nothing;
};
struct held lock_driver(void);
void unlock_driver(struct held *held);
int lock_release(void);    /* releases all of this thread's holds; returns their number */
void lock_take(int times); /* takes it that number of times */

/* Holds the lock to the end of the block. */
#define LOCKED struct held held_lock __attribute__((cleanup(unlock_driver), unused)) = lock_driver()

#endif
