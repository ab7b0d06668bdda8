/* The driver's one lock, which every function holds while it runs. */
#ifndef PTXLOOM_LOCK_H
#define PTXLOOM_LOCK_H

struct held {
    int nothing;
};
struct held lock_driver(void);
void unlock_driver(struct held *held);
int lock_release(void);    /* however often this thread holds it; returns how often */
void lock_take(int times); /* as often again */

/* Holds the lock to the end of the block. */
#define LOCKED struct held held_lock __attribute__((cleanup(unlock_driver), unused)) = lock_driver()

#endif
