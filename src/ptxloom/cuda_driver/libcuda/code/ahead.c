/* How launches are answered: one like another that went well is sent, and what comes of it is known later.

   Whatever may see what kernels do, or asks the server, settles first: `lock_driver` and `ask` do, work other than a
   kernel does (`work_do`), and so does the end of the program. */
#include <stdio.h>
#include <string.h>

#include "driver.h"

enum { MOST = 64, PLACES = 256 };
static int sent; /* and not answered */
static int late; /* why one was refused: the next call answers it */
static int is_waiting;
static uint64_t known[PLACES][LAUNCH_WORDS]; /* launches of which the server says that they need not be waited for */

static uint64_t *place_of(const uint64_t *head) {
    uint64_t mixed = 0;
    for (int i = 0; i < LAUNCH_WORDS; i++) mixed = (mixed ^ head[i]) * 0x9E3779B97F4A7C15u;
    return known[mixed >> 56];
}

enum { LAUNCHED, REFUSED, ENDED, AGAIN }; /* how the server says that it went */

int launch_ended(int error, const struct answer *answer, const uint64_t *head) {
    uint32_t how;
    if (answer->size < sizeof how) return DEVICE_UNAVAILABLE;
    memcpy(&how, answer->data, sizeof how);
    if (answer->size > sizeof how) {
        fwrite(answer->data + sizeof how, 1, answer->size - sizeof how, stdout);
        fflush(stdout);
    }
    if (how == AGAIN && head) memcpy(place_of(head), head, sizeof known[0]);
    if (how != ENDED) return error;
    failed = error; /* the next call tells of it, as where kernels run beside the program */
    write_down("a kernel was ended", error_name(error));
    return SUCCESS;
}

int launch_may_go(const uint64_t *head) { return !is_waiting && sent < MOST && !memcmp(place_of(head), head, sizeof known[0]); }

int launch_send(const struct part *parts, int count) {
    if (!post(LAUNCH, parts, count)) return DEVICE_UNAVAILABLE;
    sent++;
    return SUCCESS;
}

void settle(void) {
    struct answer answer = {0};
    while (sent) {
        sent--;
        int error = answered(&answer);
        if (error == DEVICE_UNAVAILABLE) sent = 0;
        else error = launch_ended(error, &answer, NULL);
        if (!late) late = error;
    }
}

int launch_refused(void) {
    const int error = late;
    late = 0;
    return error;
}

void launches_forget(void) {
    sent = late = 0;
    memset(known, 0, sizeof known);
}

/* For whoever has the host look at the device's memory without asking the driver: from now on all is done when a launch returns. */
EXPORTED int ptxloom_wait_for_launches(void) {
    LOCKED;
    is_waiting = 1;
    return SUCCESS;
}
