/* Attributes of a launch, and of a kernel's node. */
#ifndef PTXLOOM_ATTRIBUTES_H
#define PTXLOOM_ATTRIBUTES_H

#include "streams/work.h"

enum attribute {
    WINDOW = 1,
    COOPERATIVE_LAUNCH = 2,
    SYNCHRONIZATION = 3,
    CLUSTER = 4,
    POLICY = 5,
    SERIALIZATION = 6,
    PROGRAMMATIC_EVENT = 7,
    PRIORITY = 8,
    MEMORY_DOMAIN_MAP = 9,
    MEMORY_DOMAIN = 10,
    PREFERRED_CLUSTER = 11,
    COMPLETION_EVENT = 12,
    UPDATABLE = 13,
    CARVEOUT = 14,
    NVLINK = 16,
    LAST = 17,
};

int hint_of(struct hints *hints, enum attribute attribute, const void *value); /* stores it; NOT_FOUND for other attributes */

#endif
