/* Runs launches on the server, and keeps the error that ended a kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/connection.h"
#include "base/limits.h"
#include "base/logs.h"
#include "memory/host_memory.h"
#include "streams/work.h"

enum { LAUNCHED, REFUSED, ENDED }; /* the outcome from the server */

static int ended(int error, const struct answer *answer) {
    uint32_t how;
    if (answer->size < sizeof how) return error ? error : DEVICE_UNAVAILABLE;
    memcpy(&how, answer->data, sizeof how);
    if (answer->size > sizeof how) {
        fwrite(answer->data + sizeof how, 1, answer->size - sizeof how, stdout);
        fflush(stdout);
    }
    if (how != ENDED) return error;
    failed = error; /* the next call returns it, as on a device that runs asynchronously */
    write_down("a kernel was ended", error_name(error));
    return SUCCESS;
}

static int launch(const struct work *work) {
    const struct launch *launch = &work->launch;
    uint64_t head[16] = {launch->function,
                         launch->grid[0],
                         launch->grid[1],
                         launch->grid[2],
                         launch->block[0],
                         launch->block[1],
                         launch->block[2],
                         launch->cluster[0],
                         launch->cluster[1],
                         launch->cluster[2],
                         launch->shared_bytes,
                         launch->flags,
                         context_limit(STACK_LIMIT),
                         context_limit(PRINTF_LIMIT),
                         context_limit(HEAP_LIMIT),
                         context_limit(PENDING_LAUNCHES)};
    const struct part parts[] = {{head, sizeof head}, {launch->parameters, launch->size}};
    struct answer answer;
    host_memory_in();
    int error = ask(LAUNCH, parts, 2, &answer);
    if (error == DEVICE_UNAVAILABLE) return error;
    host_memory_out();
    return ended(error, &answer);
}

static int copied(struct work *copy) {
    const unsigned char *theirs = copy->launch.parameters;
    const size_t bytes = copy->launch.size;
    copy->launch.parameters = malloc(bytes ? bytes : 1);
    if (!copy->launch.parameters) return OUT_OF_MEMORY;
    if (bytes) memcpy(copy->launch.parameters, theirs, bytes);
    return SUCCESS;
}

static void dropped(struct work *work) { free(work->launch.parameters); }

static const struct way launches = {launch, copied, dropped};
WORK(KERNEL_WORK, launches)
