/* Memory of another process of the program: mapped here at its device's addresses. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/contexts.h"
#include "memory/memory.h"
#include "memory/sharing.h"

enum { MAGIC = 0x4c584950, PEERS = 64 };

struct memory_handle {
    uint32_t magic;
    int32_t session;
    uint64_t start;
    char unused[48];
};

static uint64_t mapped[PEERS]; /* the starts of other processes' memory mapped here */

static void peers_forget(void) { memset(mapped, 0, sizeof mapped); }
FORGETS(peers_forget)

EXPORTED int cuIpcGetMemHandle(struct memory_handle *handle, device_pointer address) {
    GIVEN(handle);
    CONTEXT;
    struct allocation *one = allocation_at(address);
    if (!one || one->kind != DEVICE_MEMORY) return INVALID_VALUE;
    *handle = (struct memory_handle){.magic = MAGIC, .session = device.session, .start = one->start};
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
    if (opened < 0 || !map_shared(start, size, opened)) return MAP_FAILED_HERE;
    mapped[place] = start;
    return SUCCESS;
}

int memory_open(int32_t session, device_pointer start) {
    uint64_t found[5], wanted[2] = {(uint64_t)session, start};
    struct part part = {wanted, sizeof wanted};
    struct answer answer;
    TRY(ask(IPC_OPEN, &part, 1, &answer));
    if (answer.size != sizeof found) return DEVICE_UNAVAILABLE;
    memcpy(found, answer.data, sizeof found);
    TRY(map_peer(found[0], found[1], found[2], found[3]));
    return allocation_add(start, found[4], FOREIGN_MEMORY, 0);
}

EXPORTED int cuIpcOpenMemHandle_v2(device_pointer *start, struct memory_handle handle, unsigned flags) {
    GIVEN(start);
    CONTEXT;
    if (flags > 1 || handle.magic != MAGIC) return INVALID_VALUE;
    if (handle.session == device.session) return INVALID_CONTEXT;
    struct allocation *there = allocation_at(handle.start);
    if (there && there->start == handle.start && there->kind == FOREIGN_MEMORY) there->opened++;
    else TRY(memory_open(handle.session, handle.start));
    *start = handle.start;
    return SUCCESS;
}
SAME(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2);

EXPORTED int cuIpcCloseMemHandle(device_pointer start) {
    CONTEXT;
    return memory_free(start, 1 << FOREIGN_MEMORY);
}
