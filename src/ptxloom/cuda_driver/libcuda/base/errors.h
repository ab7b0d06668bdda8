/* The errors that the functions of the driver return, and their texts. */
#ifndef PTXLOOM_ERRORS_H
#define PTXLOOM_ERRORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/exported.h"

typedef uint64_t device_pointer;

enum error {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    DEVICE_UNAVAILABLE = 46,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    MAP_FAILED_HERE = 205,
    UNSUPPORTED_LIMIT = 215,
    PEER_ACCESS_UNSUPPORTED = 217,
    INVALID_PTX = 218,
    UNSUPPORTED_EXEC_AFFINITY = 224,
    FILE_NOT_FOUND = 301,
    OPERATING_SYSTEM = 304,
    INVALID_HANDLE = 400,
    ILLEGAL_STATE = 401,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    PEER_ACCESS_NOT_ENABLED = 705,
    PRIMARY_CONTEXT_ACTIVE = 708,
    CONTEXT_IS_DESTROYED = 709,
    HOST_MEMORY_ALREADY_REGISTERED = 712,
    HOST_MEMORY_NOT_REGISTERED = 713,
    NOT_PERMITTED = 800,
    NOT_SUPPORTED = 801,
    STREAM_CAPTURE_UNSUPPORTED = 900,
    STREAM_CAPTURE_UNMATCHED = 903,
    STREAM_CAPTURE_INVALIDATED = 901,
    STREAM_CAPTURE_MERGE = 902,
    STREAM_CAPTURE_ISOLATION = 905,
    STREAM_CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    GRAPH_EXEC_UPDATE_FAILURE = 910,
    INVALID_CLUSTER_SIZE = 912,
    INVALID_RESOURCE_TYPE = 914,
    INVALID_RESOURCE_CONFIGURATION = 915,
};

const char *error_name(int error);

/* Missing arguments are checked before anything else, as on silicon. */
#define GIVEN(all)                        \
    do {                                  \
        if (!(all)) return INVALID_VALUE; \
    } while (0)
#define HANDLE(all)                        \
    do {                                   \
        if (!(all)) return INVALID_HANDLE; \
    } while (0)

#define TRY(call)                  \
    do {                           \
        int tried_ = (call);       \
        if (tried_) return tried_; \
    } while (0)

#endif
