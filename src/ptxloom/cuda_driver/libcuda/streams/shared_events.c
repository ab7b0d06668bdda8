/* Events shared with other processes of the program.

   Work before an event is done once it is recorded (`event_record`), so that no process has to wait. */
#include "base/handles.h"
#include "streams/events.h"
#include "streams/streams.h"

enum { MAGIC = 0x45585450, INTERPROCESS_FLAGS = INTERPROCESS | NO_TIMING };

struct event_handle {
    uint32_t magic;
    int32_t session;
    uint64_t event;
    char unused[48];
};

EXPORTED int cuIpcGetEventHandle(struct event_handle *handle, void *event_handle) {
    GIVEN(handle && event_handle);
    CONTEXT;
    const struct event *event = object_of(AN_EVENT, event_handle);
    if (!event || !(event->flags & INTERPROCESS) || event->is_opened) return INVALID_HANDLE;
    *handle = (struct event_handle){MAGIC, device.session, (uint64_t)(uintptr_t)event_handle, ""};
    return SUCCESS;
}

EXPORTED int cuIpcOpenEventHandle(void **opened, struct event_handle handle) {
    GIVEN(opened);
    CONTEXT;
    if (handle.magic != MAGIC) return MAP_FAILED_HERE;
    if (handle.session == device.session) return INVALID_CONTEXT;
    TRY(event_new(opened, INTERPROCESS_FLAGS));
    ((struct event *)object_of(AN_EVENT, *opened))->is_opened = 1;
    return SUCCESS;
}
