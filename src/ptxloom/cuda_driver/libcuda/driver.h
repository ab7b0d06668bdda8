/* A CUDA driver that needs no GPU: what its files share.

   State that no kernel sees (contexts, streams, events, graphs, who owns an address) is kept here, under one lock, which
   every function holds while it runs. Kernels, modules and memory belong to a server process, asked through one socket.
   Device memory lies at the same addresses in both. Everything is done when the call that asked for it returns. */
#ifndef PTXLOOM_DRIVER_H
#define PTXLOOM_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

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

typedef uint64_t device_pointer;

/* -- the lock: `LOCKED` holds it to the end of a block ---------------------------------------------------------- */

struct held {
    int nothing;
};
struct held lock_driver(void);
void unlock_driver(struct held *held);
int lock_release(void);     /* however often this thread holds it; says how often */
void lock_take(int times); /* as often again */
#define LOCKED struct held held_lock __attribute__((cleanup(unlock_driver), unused)) = lock_driver()

/* As LOCKED, and answers an error unless cuInit has been called. */
#define DRIVER                                                                                                         \
    LOCKED;                                                                                                            \
    do {                                                                                                               \
        int driver_error_ = driver_error();                                                                            \
        if (driver_error_) return driver_error_;                                                                       \
    } while (0)

/* As DRIVER, with a current context in which no kernel has failed. */
#define CONTEXT                                                                                                        \
    DRIVER;                                                                                                            \
    CURRENT

#define CURRENT                                                                                                        \
    do {                                                                                                               \
        int context_error_ = context_error();                                                                          \
        if (context_error_) return context_error_;                                                                     \
    } while (0)

/* What has to be there at all is asked before anything else, as on silicon. */
#define GIVEN(all)                                                                                                     \
    do {                                                                                                               \
        if (!(all)) return INVALID_VALUE;                                                                              \
    } while (0)
#define HANDLE(all)                                                                                                    \
    do {                                                                                                               \
        if (!(all)) return INVALID_HANDLE;                                                                             \
    } while (0)

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        int tried_ = (call);                                                                                           \
        if (tried_) return tried_;                                                                                     \
    } while (0)

int driver_error(void);
extern __thread int calling_host; /* while a stream calls a function of the program, which may not call the driver */
int context_error(void);
extern int failed; /* the error that ended a kernel: every call answers it, until the context is reset */
int function_missing(const char *name);
const char *error_name(int error);
void write_down(const char *what, const char *which); /* in the log */

/* -- handles: numbers that a table knows, so that a wild one is an error -------------------------------------- */

enum kind {
    A_CONTEXT = 1,
    A_STREAM,
    AN_EVENT,
    A_MODULE,
    A_FUNCTION,
    A_LIBRARY,
    A_LINK,
    A_GRAPH,
    A_NODE,
    AN_EXECUTABLE,
    A_POOL,
    A_USER_OBJECT,
    A_PHYSICAL,
    AN_ARRAY,
    A_MIPMAP,
    A_REFERENCE,
    A_CONDITION,
    A_GREEN_CONTEXT,
    A_RESOURCE_DESCRIPTION,
    A_CONDITION_VALUE,
    A_GRAPH_MEMORY,
    A_LOG_CALLBACK,
    A_NOTIFICATION,
};
void *handle_new(enum kind kind, size_t object_bytes); /* of a new zeroed object; NULL if there is no memory */
void *object_of(enum kind kind, const void *handle);   /* NULL if it is no handle of this kind */
void handle_free(const void *handle);                  /* and its object */
int handle_gone(const void *handle);                   /* it has been one */
void *handle_next(enum kind kind, size_t *place);      /* one after the other, from a place of 0; NULL behind the last */

/* -- the server ------------------------------------------------------------------------------------------------ */

enum operation {
    HELLO = 1,
    ALLOCATE,
    FREE,
    LOAD,
    UNLOAD,
    GET_FUNCTION,
    GET_GLOBAL,
    LIST_FUNCTIONS,
    LAUNCH,
    LINK,
    TENSOR_MAP,
    MISSING,
    IPC_OPEN,
    IMAGE,
    DROP_IMAGE,
    REFERENCE,
    PLACE,
    VIRTUAL = 20,
};

struct part {
    const void *data;
    size_t size;
};

/* What the server answered: bytes that are there until the next question. */
struct answer {
    const unsigned char *data;
    size_t size;
};

int server_process(void);
int ask(enum operation operation, const struct part *parts, int count, struct answer *answer);
void disconnect(void);
int map_shared(uint64_t address, uint64_t size, int file); /* closes the file */

/* -- the device --------------------------------------------------------------------------------------------------- */

enum { ATTRIBUTES = 256 };
enum device_attribute { /* those that are asked for here, of CUdevice_attribute */
    MAX_THREADS_PER_BLOCK = 1,
    MAX_BLOCK_DIM_X = 2,
    MAX_GRID_DIM_X = 5,
    MAX_SHARED_MEMORY_PER_BLOCK = 8,
    MAX_PITCH = 11,
    TEXTURE_ALIGNMENT = 14,
    MULTIPROCESSOR_COUNT = 16,
    MAX_THREADS_PER_MULTIPROCESSOR = 39,
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
    MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
    MAX_PERSISTING_L2_CACHE_SIZE = 108,
    RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
    CLUSTER_LAUNCH = 120,
};
struct device {
    uint64_t start, size; /* of the addresses that are the device's */
    uint64_t marks;       /* where a byte tells of each byte whether it has been written; 0 if nobody asks */
    uint64_t capacity;
    int32_t session;
    int32_t attributes[ATTRIBUTES];
    unsigned char uuid[16];
    char name[256];
};
extern struct device device;
int connect_device(void);

/* What is left behind when a process turns to another server: nothing. */
void handles_forget(void);
void contexts_forget(void);
void allocations_forget(void);
void host_memory_forget(void);
void peers_forget(void);
void virtual_forget(void);
void objects_forget(void);
int is_device(int ordinal);
int has_a_front(const char *path); /* whether it is a library of NVIDIA's that another of ours stands in front of */

/* -- contexts ------------------------------------------------------------------------------------------------------ */

void *current_context(void);
void *green_context_new(uint64_t *id);
void context_end(void *handle);
enum { STACK_LIMIT, PRINTF_LIMIT, HEAP_LIMIT, SYNC_DEPTH, PENDING_LAUNCHES, FETCH_GRANULARITY, PERSISTING_L2, SHARED_MEMORY, GRAPHICS, GRAPHICS_DRAWS, LIMITS };
uint64_t context_limit(int which);

/* -- memory ---------------------------------------------------------------------------------------------------------- */

enum memory_kind { DEVICE_MEMORY, HOST_MEMORY, MANAGED_MEMORY, VARIABLE_MEMORY, POOL_MEMORY, FOREIGN_MEMORY, MAPPED_MEMORY, ARRAY_MEMORY };
struct allocation {
    device_pointer start;
    uint64_t size;
    enum memory_kind kind;
    uint32_t flags;
    uint64_t id;
    void *context, *pool, *graph_memory;
    uint64_t owner; /* a module, for its variables */
    enum { NOT_TOLD, MAY_OVERLAP, WAIT } copies; /* as a program has said of them: all wait here */
    unsigned opened; /* how often more than once */
};
struct location {
    int type, id;
};
int prefetch(device_pointer start, uint64_t size, struct location where);
int is_managed(device_pointer start, uint64_t size);
enum advice { SET_READ_MOSTLY = 1, UNSET_READ_MOSTLY, SET_PREFERRED, UNSET_PREFERRED, SET_ACCESSED_BY, UNSET_ACCESSED_BY, MOVED };
int advice_keep(device_pointer start, uint64_t size, enum advice advice, struct location where); /* of managed memory */
void advice_drop(device_pointer start, uint64_t size);
void advice_forget(void);
struct allocation *allocation_at(device_pointer address);
int allocation_add(device_pointer start, uint64_t size, enum memory_kind kind, uint64_t owner);
uint64_t allocation_id(void); /* that nothing else has */
void allocations_remove_of(uint64_t owner);
int memory_new(uint64_t size, enum memory_kind kind, uint32_t flags, device_pointer *start);
int memory_open(int32_t session, device_pointer start); /* of another process */
int memory_free(device_pointer start, int kinds); /* what a pool gave is POOL_MEMORY, wherever it lies */
void pool_gets_back(const void *handle, size_t size);
void allocation_drop(device_pointer start); /* forgets it, if there is one */
int virtual_holds(device_pointer address);  /* whether it is of the addresses that programs set aside */
uint64_t virtual_extent(device_pointer address, device_pointer *start); /* of what was set aside around it */
int in_device(device_pointer address); /* this one's, or what another process shares */
enum when { NOW, LATER }; /* later: in a graph, where memory is that its launches allocate */
int reachable(device_pointer address, uint64_t size); /* whether these bytes may be copied now, */
enum when when_of(void *stream);                      /* whether what it is given now is recorded */
int reachable_when(device_pointer address, uint64_t size, enum when when);
uint64_t memory_used(void);
void memory_written(device_pointer address, uint64_t size);
void host_memory_in(void); /* what kernels see of registered memory, before a launch and behind it */
void host_memory_out(void);
int host_memory_seen(void *address, device_pointer *found);
int host_memory_known(device_pointer address, struct allocation *told); /* whether it is registered */
device_pointer host_memory_device(device_pointer address);
int host_memory_flags(void *address, unsigned *flags);

/* -- work, done at once or recorded in a graph -------------------------------------------------------------------- */

enum work_kind { NOTHING, KERNEL_WORK, COPY_WORK, FILL_WORK, HOST_WORK, RECORD_WORK, WAIT_WORK, GRAPH_WORK, FREE_WORK, ALLOCATE_WORK, VALUE_WORK, CONDITION_WORK };

/* What a node of a graph keeps of a launch, and changes nothing here. */
struct hints {
    struct {
        void *start;
        size_t size;
        float ratio;
        int hit, miss;
    } window; /* of memory that caches shall hold */
    int cooperative, policy, priority, domain, carveout;
    unsigned char domains[2];
};

struct launch {
    uint64_t function; /* the server's number */
    void *handle;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t shared_bytes, flags;
    uint32_t size;
    unsigned char *parameters;
    struct hints hints;
};
enum { COOPERATIVE = 1, PROGRAMMATIC = 2 };
int launch_clusters(struct launch *launch, const uint32_t *size); /* of so many CTAs, if that may be */

struct fill {
    device_pointer to;
    uint64_t pitch, width, height; /* width in elements */
    uint32_t value, element_bytes;
};

/* As programs give them. */
struct copy2d {
    size_t from_x, from_y;
    int from_type;
    const void *from_host;
    device_pointer from;
    void *from_array;
    size_t from_pitch, to_x, to_y;
    int to_type;
    void *to_host;
    device_pointer to;
    void *to_array;
    size_t to_pitch, width, height;
};

struct copy3d {
    size_t from_x, from_y, from_z, from_level;
    int from_type;
    const void *from_host;
    device_pointer from;
    void *from_array, *reserved0;
    size_t from_pitch, from_height, to_x, to_y, to_z, to_level;
    int to_type;
    void *to_host;
    device_pointer to;
    void *to_array, *reserved1;
    size_t to_pitch, to_height, width, height, depth;
};
struct copy {
    device_pointer to, from;
    uint64_t to_pitch, to_slice, from_pitch, from_slice;
    uint64_t width, height, depth;
    struct copy3d given; /* as a node of a graph was given it; empty where it was made from another call */
};

int copy_of_box(const struct copy3d *given, struct copy *copy, enum when when);
struct copy3d copy_as_given(const struct copy *copy);
int copy_legal(const struct copy *copy, enum when when);
int fill_legal(const struct fill *fill, enum when when);

/* Values that are written or waited for, as programs give them. */
struct value {
    int kind;
    device_pointer address; /* of a barrier, its flags */
    uint64_t value;
    unsigned flags;
    device_pointer alias;
    uint64_t unused;
};
struct values {
    void *context;
    struct value *all;
    unsigned count;
};
int value_known(const struct value *value); /* whether there is such an operation, wherever its address may be */
int values_do(const struct values *values);

struct work {
    enum work_kind kind;
    int is_off; /* in a graph that was made ready */
    union {
        struct launch launch;
        struct copy copy;
        struct fill fill;
        struct {
            void (*function)(void *);
            void *argument;
        } host;
        struct values values;
        void *handle; /* of an event, a graph, memory of graphs */
    };
};

int work_do(const struct work *work);
int launch_ended(int error, const struct answer *answer); /* keeps what ended a kernel, prints what it printed */
int work_submit(void *stream, const struct work *work); /* done at once, or recorded where the stream is captured */
int work_copy(struct work *to, const struct work *from);
void work_drop(struct work *work);

/* Memory of graphs (graphs/allocations.c). */
int graph_memory_near(device_pointer address, uint64_t size); /* whether these bytes are of such memory, there or not */
int graph_memory_take(void *memory);                          /* it is there */
int graph_memory_end(void *memory);                           /* and is no longer */
int graph_memory_free(void *memory);
void graph_memory_use(void *memory, int times);               /* that works have */
int graph_memory_record(void *stream, device_pointer start); /* what was allocated becomes the recorded graph's */
int graph_memory_record_free(void *stream, device_pointer start);
int graph_run(void *graph);
int condition_run(void *condition);
int graph_append(void *graph, const struct work *work, void *const *after, size_t count, void **node);

/* -- streams and events ---------------------------------------------------------------------------------------------- */

struct stream {
    uint32_t flags;
    int32_t priority, synchronization;
    uint64_t id;
    void *context;
    void *capture; /* the graph that it is recorded in */
    void *origin;  /* the stream with which that capture began */
    uint64_t capture_id;
    void **last; /* nodes on which the next one depends */
    size_t last_count;
};
int stream_new(void **handle, unsigned flags, int priority, void *context);
int stream_of(void *handle, struct stream **stream);
void streams_leave(void *graph); /* the streams that joined its recording */
int event_record(void *event);
void *event_context(const void *event); /* in which it was made */
int capture_join(struct stream *stream, void *graph, void *origin, void *node); /* a stream that waits for a recorded event */
int capture_invalidate(void *graph); /* what is recorded is lost; gives the error of whoever asked for what cannot be recorded */
int capture_lost(const struct stream *stream); /* an error if what it records is lost */
void capture_drop(void *graph); /* its recording ends, and the graph goes if the recording made it */
int capture_forbids(void);     /* whether this thread may not do now what waits for the device: an error, if so */
int capture_forbids_all(void); /* the same, in any mode */

/* -- functions ---------------------------------------------------------------------------------------------------------- */

enum { PARAMETERS = 4096, FUNCTION_ATTRIBUTES = 32 };
enum function_attribute { /* those that are asked for here, of CUfunction_attribute, and what the server tells beside them */
    MAX_THREADS = 0,
    STATIC_SHARED = 1,
    REGISTERS = 4,
    MAX_DYNAMIC_SHARED = 8,
    REQUIRED_CLUSTER = 11, /* and the two behind it */
    NON_PORTABLE_CLUSTER = 14,
    REQUIRED_BLOCK = FUNCTION_ATTRIBUTES - 3, /* and the two behind it */
};
struct function {
    uint64_t number; /* the server's */
    void *module;    /* its handle */
    int32_t attributes[FUNCTION_ATTRIBUTES];
    uint32_t parameter_bytes, parameter_count;
    struct {
        uint32_t offset, size;
    } *parameters;
    char *name;
    struct old_launch *old; /* what the functions of long ago have set */
};
void references_forget(const void *module);
int module_number(const void *module, uint64_t *number);
int function_get(void **function, void *module, const char *name); /* the same handle each time */
void functions_forget(const void *module);
int resident(const void *function, int64_t threads, int64_t shared_bytes); /* CTAs that a multiprocessor holds */
struct shape {
    uint32_t grid[3], block[3], shared_bytes;
};
int launch_plain(void *function, const struct shape *shape, void *stream, void **parameters, void **extra, uint32_t flags);
/* A launch whose parameters are copied, to be freed by `work_drop`. */
int launch_of(void *function, const struct shape *shape, void **parameters, void **extra, struct work *work);

#endif
