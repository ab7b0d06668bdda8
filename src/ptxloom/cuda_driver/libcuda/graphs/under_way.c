/* Launches of graphs that are under way. While they call functions of the host or the log, or wait for a value, other threads
   run: they, and those functions, may change, destroy and launch the same graphs. */
#include <stdlib.h>
#include <string.h>

#include "base/handles.h"
#include "graphs/graphs.h"

struct retired {
    struct work work;
    struct list kept;
    struct retired *next;
};
static struct retired *all;
static unsigned launches;

static void drop(struct work *work, struct list *kept) {
    inner_drop(work);
    work_drop(work);
    user_objects_drop(kept);
}

void retire(struct work *work, struct list *kept) {
    struct retired gone = {.work = work ? *work : (struct work){.kind = NOTHING}, .kept = kept ? *kept : (struct list){0}};
    if (work) work->kind = NOTHING;
    if (kept) *kept = (struct list){0};
    if (!launches) {
        drop(&gone.work, &gone.kept);
        return;
    }
    struct retired *one = malloc(sizeof *one);
    if (!one) return; /* leak it, rather than destroy it under a launch */
    *one = gone;
    one->next = all;
    all = one;
}

static void end(void) {
    if (--launches) return;
    struct retired *gone = all;
    all = NULL;
    while (gone) {
        struct retired *next = gone->next;
        drop(&gone->work, &gone->kept);
        free(gone);
        gone = next;
    }
}

static int do_each(const struct work *works, size_t count) {
    for (size_t i = 0; i < count; i++) TRY(work_do(&works[i]));
    return SUCCESS;
}

/* The graphs of a work are recorded as copies: the work keeps its own. */
static int record_each(void *where, const struct work *works, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct work work = works[i];
        TRY(work_own(&work));
        int error = work_submit(where, &work);
        if (error) inner_drop(&work);
        TRY(error);
    }
    return SUCCESS;
}

int works_do(void *where, const struct work *works, size_t count) {
    struct stream *stream;
    TRY(stream_of(where, &stream));
    if (stream->capture) return record_each(where, works, count);
    struct work *own = malloc((count ? count : 1) * sizeof *own); /* a snapshot, unaffected by later changes */
    if (!own) return OUT_OF_MEMORY;
    if (count) memcpy(own, works, count * sizeof *own);
    launches++;
    int error = do_each(own, count);
    free(own);
    end();
    return error;
}
