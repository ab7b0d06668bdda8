/* Images of modules, whose size is nowhere said; files; the logs of compilers. */
#include "code/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FATBIN = 0xba55ed50u, WRAPPED = 0x466243b1u, ELF = 0x464c457fu };
struct wrapper {
    uint32_t magic, version;
    const void *image;
    const void *unused;
};
struct fatbin {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
};

static uint64_t elf_size(const unsigned char *image) {
    uint64_t sections, end = 64;
    uint16_t each, count;
    memcpy(&sections, image + 40, 8);
    memcpy(&each, image + 58, 2);
    memcpy(&count, image + 60, 2);
    if (image[4] != 2 || each < 64 || sections > 1ull << 40) return 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t at, size;
        const unsigned char *section = image + sections + (uint64_t)i * each;
        memcpy(&at, section + 24, 8);
        memcpy(&size, section + 32, 8);
        if (section[4] != 8 && at + size > end && at + size >= at) end = at + size;
    }
    return sections + (uint64_t)count * each > end ? sections + (uint64_t)count * each : end;
}

int image_part(const void *image, struct part *part) {
    uint32_t magic;
    memcpy(&magic, image, ((const char *)image)[0] ? 4 : 1);
    if (((const char *)image)[0] && magic == WRAPPED) {
        const struct wrapper *wrapper = image;
        if (!wrapper->image) return INVALID_IMAGE;
        image = wrapper->image;
        memcpy(&magic, image, 4);
    }
    if (magic == FATBIN) {
        const struct fatbin *header = image;
        if (header->bytes > 1ull << 40) return INVALID_IMAGE;
        *part = (struct part){image, header->header_bytes + header->bytes};
    } else if (magic == ELF) *part = (struct part){image, elf_size(image)};
    else *part = (struct part){image, strlen(image)};
    return part->size ? SUCCESS : INVALID_IMAGE;
}

/* -- options of compilers: who asks for what was wrong is told ---------------------------------------------------- */

enum { LAST_OPTION = 35 };

int logs_of(unsigned count, const int *options, void **values, struct logs *logs) {
    *logs = (struct logs){0};
    if (count && (!options || !values)) return INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        int option = options[i];
        if (option < 0 || option > LAST_OPTION) return INVALID_VALUE;
        if (option == 0 && !values[i]) return INVALID_VALUE;
        if (option == 0) logs->registers = (uint32_t)(uintptr_t)values[i];
        if (option == 9) logs->target = (uint32_t)(uintptr_t)values[i];
        if (option == 3 || option == 5) logs->text[option == 5] = values[i];
        if (option == 4 || option == 6) {
            logs->room[option == 6] = (size_t)(uint32_t)(uintptr_t)values[i];
            logs->sizes[option == 6] = &values[i];
        }
    }
    return SUCCESS;
}

void log_write(const struct logs *logs, int which, const unsigned char *text, size_t size) {
    size_t room = logs->text[which] ? logs->room[which] : 0;
    size_t kept = room ? size < room - 1 ? size : room - 1 : 0;
    if (kept) memcpy(logs->text[which], text, kept);
    if (room) logs->text[which][kept] = 0;
    if (logs->sizes[which]) *logs->sizes[which] = (void *)(uintptr_t)kept;
}

/* -- files -------------------------------------------------------------------------------------------------------- */

int file_read(const char *path, struct part *part) {
    FILE *file = path ? fopen(path, "rb") : NULL;
    char *data = NULL;
    size_t size = 0, room = 0;
    if (!file) return FILE_NOT_FOUND;
    for (;;) {
        if (size + 1 >= room) {
            char *larger = realloc(data, room = room ? 2 * room : 65536);
            if (!larger) break;
            data = larger;
        }
        size_t got = fread(data + size, 1, room - size - 1, file);
        if (!got) break;
        size += got;
    }
    fclose(file);
    if (!data) return OUT_OF_MEMORY;
    data[size] = 0;
    *part = (struct part){data, size};
    return SUCCESS;
}
