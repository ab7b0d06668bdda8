/* Launches, whose parameters are copied from the program. */
#ifndef PTXLOOM_LAUNCHES_H
#define PTXLOOM_LAUNCHES_H

#include "streams/work.h"

struct shape {
    uint32_t grid[3], block[3], shared_bytes;
};
enum { COOPERATIVE = 1, PROGRAMMATIC = 2 };
int launch_plain(void *function, const struct shape *shape, void *stream, void **parameters, void **extra, uint32_t flags);
/* A launch whose parameters are copied, to be freed by `work_drop`. */
int launch_of(void *function, const struct shape *shape, void **parameters, void **extra, struct work *work);
int launch_clusters(struct launch *launch, const uint32_t *size); /* clusters of that many CTAs, if allowed */

#endif
