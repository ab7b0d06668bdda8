/* Images of modules, which are passed without a size: it is in their headers, and only readable memory is read;
   files; the logs of compilers. */
#include "code/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FATBIN = 0xba55ed50u, WRAPPED = 0x466243b1u, ELF = 0x464c457fu, NO_BITS = 8, ELF_64 = 2 };
enum { ELF_HEADER_BYTES = 64, SECTION_BYTES = 64, PART_OF_TEXT = 4096 };
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

/* Copy what can be read of an image, completely or not at all. */
static int copied(void *into, const void *image, uint64_t at, size_t size) {
    const unsigned char *from = (const unsigned char *)image + at;
    if (at > IMAGE_LIMIT || readable(from, size) < size) return 0;
    memcpy(into, from, size);
    return 1;
}

/* These return the length of an image; 0 if it is not of their kind. */

static uint64_t elf_size(const void *image) {
    unsigned char header[ELF_HEADER_BYTES], section[SECTION_BYTES];
    uint64_t sections, at, size;
    uint16_t each, count;
    if (!copied(header, image, 0, sizeof header) || header[4] != ELF_64) return 0;
    memcpy(&sections, header + 40, 8);
    memcpy(&each, header + 58, 2);
    memcpy(&count, header + 60, 2);
    if (each < SECTION_BYTES || sections > IMAGE_LIMIT) return 0;
    uint64_t end = sections + (uint64_t)count * each;
    if (end < ELF_HEADER_BYTES) end = ELF_HEADER_BYTES;
    for (unsigned i = 0; i < count; i++) {
        if (!copied(section, image, sections + (uint64_t)i * each, sizeof section)) return 0;
        memcpy(&at, section + 24, 8);
        memcpy(&size, section + 32, 8);
        if (section[4] == NO_BITS) continue;
        if (at > IMAGE_LIMIT || size > IMAGE_LIMIT - at) return 0;
        if (at + size > end) end = at + size;
    }
    return end;
}

static uint64_t fatbin_size(const void *image) {
    struct fatbin header;
    if (!copied(&header, image, 0, sizeof header) || header.bytes > IMAGE_LIMIT) return 0;
    return header.header_bytes + header.bytes;
}

static uint64_t text_size(const char *text) {
    uint64_t size = 0;
    for (;;) {
        size_t more = readable(text + size, PART_OF_TEXT);
        const char *end = memchr(text + size, 0, more);
        if (end) return (uint64_t)(end - text);
        size += more;
        if (more < PART_OF_TEXT || size > IMAGE_LIMIT) return 0;
    }
}

int image_part(const void *image, struct part *part) {
    struct wrapper wrapper;
    uint32_t magic = 0;
    copied(&magic, image, 0, sizeof magic);
    if (magic == WRAPPED) {
        if (!copied(&wrapper, image, 0, sizeof wrapper)) return INVALID_IMAGE;
        image = wrapper.image;
        if (!copied(&magic, image, 0, sizeof magic)) return INVALID_IMAGE;
    }
    uint64_t size = magic == FATBIN ? fatbin_size(image) : magic == ELF ? elf_size(image) : text_size(image);
    if (!size || size > IMAGE_LIMIT || readable(image, size) < size) return INVALID_IMAGE;
    *part = (struct part){image, size};
    return SUCCESS;
}

/* For libcudart, which passes parts of programs to a linker. */
EXPORTED int ptxloom_image_bytes(const void *image, size_t *bytes) {
    struct part part;
    TRY(image_part(image, &part));
    *bytes = part.size;
    return SUCCESS;
}

/* -- options of compilers: errors are returned on request ---------------------------------------------------- */

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
    int error = SUCCESS;
    if (!file) return FILE_NOT_FOUND;
    while (!error) {
        if (size + 1 >= room) {
            char *larger = realloc(data, room = room ? 2 * room : 65536);
            if (!larger) error = OUT_OF_MEMORY;
            else data = larger;
        }
        size_t got = error ? 0 : fread(data + size, 1, room - size - 1, file);
        if (!got) break;
        size += got;
        if (size > IMAGE_LIMIT) error = INVALID_IMAGE;
    }
    fclose(file);
    if (error) {
        free(data);
        return error;
    }
    data[size] = 0;
    *part = (struct part){data, size};
    return SUCCESS;
}
