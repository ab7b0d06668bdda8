/* Memory of another process of the program: its device's addresses, mapped here at the same place. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

enum { MAGIC = 0x4c584950, PEERS = 64 };

struct memory_handle {
    uint32_t magic;
    int32_t session;
    uint64_t start, size;
    char unused[40];
};

static uint64_t mapped[PEERS]; /* where the memory of others starts that is seen here */

void peers_forget(void) { memset(mapped, 0, sizeof mapped); }

EXPORTED int cuIpcGetMemHandle(struct memory_handle *handle, device_pointer address) {
    GIVEN(handle);
    CONTEXT;
    struct allocation *one = allocation_at(address);
    if (!one || one->kind != DEVICE_MEMORY) return INVALID_VALUE;
    *handle = (struct memory_handle){.magic = MAGIC, .session = device.session, .start = one->start, .size = one->size};
    return SUCCESS;
}

static int map_peer(uint64_t start, uint64_t size, uint64_t process, uint64_t file) {
    char path[64];
    int place = 0;
    while (place < PEERS && mapped[place] && mapped[place] != start) place++;
    if (place == PEERS) return OUT_OF_MEMORY;
    if (mapped[place]) return SUCCESS;
    snprintf(path, sizeof path, "/proc/%llu/fd/%llu", (unsigned long long)process, (unsigned long long)file);
    int opened = open(path, O_RDWR | O_CLOEXEC);
    if (opened < 0 || !map_shared(start, size, opened)) return 205;
    mapped[place] = start;
    return SUCCESS;
}

EXPORTED int cuIpcOpenMemHandle_v2(device_pointer *start, struct memory_handle handle, unsigned flags) {
    GIVEN(start);
    CONTEXT;
    uint64_t found[4];
    struct answer answer;
    if (flags > 1 || handle.magic != MAGIC) return INVALID_VALUE;
    if (handle.session == device.session) return INVALID_CONTEXT;
    struct allocation *there = allocation_at(handle.start);
    if (there && there->start == handle.start && there->kind == FOREIGN_MEMORY) {
        there->opened++;
        *start = handle.start;
        return SUCCESS;
    }
    uint64_t wanted[2] = {(uint64_t)handle.session, handle.start};
    struct part part = {wanted, sizeof wanted};
    TRY(ask(IPC_OPEN, &part, 1, &answer));
    memcpy(found, answer.data, sizeof found);
    TRY(map_peer(found[0], found[1], found[2], found[3]));
    TRY(allocation_add(handle.start, handle.size, FOREIGN_MEMORY, 0));
    *start = handle.start;
    return SUCCESS;
}
EXPORTED int cuIpcOpenMemHandle(device_pointer *start, struct memory_handle handle, unsigned flags) {
    return cuIpcOpenMemHandle_v2(start, handle, flags);
}

EXPORTED int cuIpcCloseMemHandle(device_pointer start) {
    CONTEXT;
    return memory_free(start, 1 << FOREIGN_MEMORY);
}
