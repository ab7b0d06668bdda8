/* Functions of the program that a stream calls. */
#include "base/contexts.h"
#include "streams/recordings.h"

/* Other threads may call the driver meanwhile. */
static int call(const struct work *work) {
    int times = lock_release();
    calling_host++;
    work->host.function(work->host.argument);
    calling_host--;
    lock_take(times);
    return SUCCESS;
}

static const struct way calls = {.run = call};
WORK(HOST_WORK, calls)

EXPORTED int cuLaunchHostFunc(void *stream, void (*function)(void *), void *argument) {
    GIVEN(function);
    CONTEXT;
    struct work work = {.kind = HOST_WORK, .host = {function, argument}};
    return work_submit(stream, &work);
}

EXPORTED int cuLaunchHostFunc_v2(void *stream, void (*function)(void *), void *argument, unsigned mode) {
    (void)mode;
    return cuLaunchHostFunc(stream, function, argument);
}

EXPORTED int cuStreamAddCallback(void *handle, void (*function)(void *, int, void *), void *argument, unsigned flags) {
    GIVEN(function);
    CONTEXT;
    struct stream *stream;
    if (flags) return INVALID_VALUE;
    TRY(stream_of(handle, &stream));
    if (stream->capture) return capture_invalidate(stream->capture);
    int times = lock_release();
    calling_host++;
    function(handle, failed, argument);
    calling_host--;
    lock_take(times);
    return SUCCESS;
}
