/* Work in general: each kind is implemented in its own file. */
#include "streams/recordings.h"

static int nothing(const struct work *work) {
    (void)work;
    return SUCCESS;
}
static const struct way idle = {.run = nothing};
static const struct way *ways[WORK_KINDS] = {[NOTHING] = &idle, [WAIT_WORK] = &idle};

void work_way(enum work_kind kind, const struct way *way) { ways[kind] = way; }

int work_do(const struct work *work) {
    if (work->is_off) return SUCCESS;
    return ways[work->kind]->run(work);
}

int work_submit(void *handle, const struct work *work) {
    struct stream *stream;
    TRY(stream_of(handle, &stream));
    return stream->capture ? record_work(stream, work) : work_do(work);
}

int work_copy(struct work *to, const struct work *from) {
    const struct way *way = ways[from->kind];
    *to = *from;
    return way->copied ? way->copied(to) : SUCCESS;
}

void work_drop(struct work *work) {
    const struct way *way = ways[work->kind];
    if (way->dropped) way->dropped(work);
    work->kind = NOTHING;
}
