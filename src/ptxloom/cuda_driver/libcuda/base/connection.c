/* The socket to the server, and forks.

   One connection per process: a caller holds the lock until the response has arrived. A child process has no driver
   (CUDA_ERROR_NOT_INITIALIZED), as with a GPU, if its parent had called cuInit; else it has its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/connection.h"
#include "base/handles.h"
#include "base/logs.h"

static int server = -1;
static int forked; /* from a process that had called cuInit */
static unsigned char *buffer;
static size_t buffer_size;

int failed;
struct device device;

static void in_child(void) {
    if (server < 0) return;
    close(server);
    server = -1;
    forked = 1;
}

__thread int calling_host;

int driver_error(void) {
    if (calling_host) return NOT_PERMITTED;
    if (forked || device.size == 0) return NOT_INITIALIZED;
    return server < 0 ? DEVICE_UNAVAILABLE : SUCCESS;
}

static void disconnect(void) {
    if (server >= 0) close(server);
    server = -1;
    fprintf(stderr, "ptxloom: the process in which kernels run has ended\n");
}

static int send_all(const void *data, size_t size) {
    const char *at = data;
    while (size) {
        ssize_t sent = send(server, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return 0;
        at += sent;
        size -= (size_t)sent;
    }
    return 1;
}

enum { LOOKS = 100, FEW = 4, NOW_AND_THEN = 32 };

/* Poll for the response before this thread sleeps: waking takes longer than most launches. After a few failures
   (kernels are long, or the machine is busy), poll only now and then. */
static void look(void) {
    static unsigned in_vain;
    char first;
    if (in_vain++ >= FEW && in_vain % NOW_AND_THEN) return;
    for (int i = 0; i < LOOKS; i++) {
        if (recv(server, &first, 1, MSG_PEEK | MSG_DONTWAIT) < 0) continue;
        in_vain = 0;
        return;
    }
}

static int receive_all(void *data, size_t size) {
    char *at = data;
    while (size) {
        ssize_t got = recv(server, at, size, MSG_WAITALL);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        at += got;
        size -= (size_t)got;
    }
    return 1;
}

static int room_for(size_t size) {
    if (size <= buffer_size) return 1;
    unsigned char *larger = realloc(buffer, size);
    if (!larger) return 0;
    buffer = larger;
    buffer_size = size;
    return 1;
}

/* The process at the other end. */
int server_process(void) {
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    return getsockopt(server, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? 0 : peer.pid;
}

/* Send a short request in one piece: the server wakes up for each piece. */
static int send_question(const uint64_t question[2], const struct part *parts, int count) {
    unsigned char together[8192];
    size_t at = 2 * sizeof *question;
    if (question[1] > sizeof together - at) {
        int well = send_all(question, at);
        for (int i = 0; well && i < count; i++) well = send_all(parts[i].data, parts[i].size);
        return well;
    }
    memcpy(together, question, at);
    for (int i = 0; i < count; i++) {
        if (parts[i].size) memcpy(together + at, parts[i].data, parts[i].size);
        at += parts[i].size;
    }
    return send_all(together, at);
}

static const uint64_t MOST_BYTES = 1ull << 31; /* of a request */

int ask(enum operation operation, const struct part *parts, int count, struct answer *answer) {
    uint64_t question[2] = {(uint64_t)operation, 0};
    struct {
        int32_t status, end;
        uint64_t size;
    } head;
    if (answer) *answer = (struct answer){0};
    if (server < 0) return DEVICE_UNAVAILABLE;
    for (int i = 0; i < count; i++) question[1] += parts[i].size;
    if (question[1] > MOST_BYTES) return INVALID_VALUE;
    int well = send_question(question, parts, count);
    if (well) look();
    well = well && receive_all(&head, sizeof head);
    if (well && !room_for(head.size)) well = 0;
    if (!well || !receive_all(buffer, head.size)) {
        disconnect();
        return DEVICE_UNAVAILABLE;
    }
    if (head.end) { /* a hazard must end the program */
        fflush(NULL);
        _exit(head.end);
    }
    if (answer) *answer = (struct answer){buffer, head.size};
    return head.status;
}

/* The response to HELLO comes with the files of the device's memory; returns the error in words, or NULL. */
static const char *greet(int *files, int *count) {
    static const char *other = "the process in which kernels run is of another version";
    uint64_t question[2] = {HELLO, sizeof(uint64_t)};
    uint64_t process = (uint64_t)getpid();
    char room[CMSG_SPACE(2 * sizeof(int))];
    struct iovec into = {&device, sizeof device};
    struct msghdr message = {.msg_iov = &into, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    if (!send_all(question, sizeof question) || !send_all(&process, sizeof process)) return other;
    ssize_t got = recvmsg(server, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
    struct cmsghdr *told = CMSG_FIRSTHDR(&message);
    if (got == 0) return "the process in which kernels run refuses this program a device"; /* and has reported why */
    if (got != (ssize_t)sizeof device || !told || told->cmsg_type != SCM_RIGHTS) return other;
    *count = (int)((told->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(files, CMSG_DATA(told), (size_t)*count * sizeof(int));
    device.name[sizeof device.name - 1] = 0;
    return NULL;
}

int map_shared(uint64_t address, uint64_t size, int file) {
    void *wanted = (void *)(uintptr_t)address;
    void *found = mmap(wanted, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
    int why = found == MAP_FAILED ? errno : EEXIST;
    close(file);
    if (found != wanted) {
        if (found != MAP_FAILED) munmap(found, size);
        errno = why;
        return 0;
    }
    madvise(found, size, MADV_DONTFORK);
    return 1;
}

static int map_device(const int *files, int count) {
    int well = map_shared(device.start, device.size, files[0]);
    if (count < 2) return well;
    int marked = map_shared(device.marks, device.size, files[1]);
    if (well && !marked) munmap((void *)(uintptr_t)device.start, device.size);
    if (marked && !well) munmap((void *)(uintptr_t)device.marks, device.size);
    return well && marked;
}

static char connected[sizeof((struct sockaddr_un *)0)->sun_path]; /* the server's path */

static int open_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return 0;
    strcpy(address.sun_path, path);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    server = fcntl(made, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); /* never a standard stream's, even a closed one's */
    if (made >= 0) close(made);
    return server >= 0 && connect(server, (struct sockaddr *)&address, sizeof address) == 0;
}

static int said(const char *sentence) {
    fprintf(stderr, "ptxloom: %s\n", sentence);
    memset(&device, 0, sizeof device);
    if (server >= 0) close(server);
    server = -1;
    return NO_DEVICE;
}

enum { MOST_FORGETFUL = 16 };
static forgetting *forgetful[MOST_FORGETFUL];
static size_t forgetful_count;

void when_server_changes(forgetting *function) {
    if (forgetful_count == MOST_FORGETFUL) abort(); /* before main, in every program: tests would notice */
    forgetful[forgetful_count++] = function;
}

/* The environment names another server: forget everything and start over. */
static void start_again(void) {
    if (server >= 0) close(server);
    server = -1;
    handles_forget();
    for (size_t i = 0; i < forgetful_count; i++) forgetful[i]();
    munmap((void *)(uintptr_t)device.start, device.size);
    if (device.marks) munmap((void *)(uintptr_t)device.marks, device.size);
    memset(&device, 0, sizeof device);
    failed = SUCCESS;
}

enum { MOST_PLACES = 64 }; /* more than the server tries */

static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static void prepare(void) { pthread_atfork(NULL, NULL, in_child); }

int connect_device(void) {
    pthread_once(&prepared, prepare);
    const char *path = getenv("PTXLOOM_DRIVER");
    if (forked) return NOT_INITIALIZED;
    if (device.size && path && *path && strcmp(path, connected)) start_again();
    if (device.size) return driver_error();
    if (!path || !*path) return said("this CUDA driver runs kernels in a process of ptxloom's: start the program by `ptxloom exec`");
    if (!open_socket(path)) return said("the process in which kernels run cannot be reached: start the program by `ptxloom exec`");
    strcpy(connected, path);
    for (int place = 0; place < MOST_PLACES; place++) { /* each request gets other addresses */
        int files[2], count = 0;
        const char *wrong = greet(files, &count);
        if (wrong) return said(wrong);
        if (map_device(files, count)) return SUCCESS;
        if (errno == ENOMEM)
            return said("this program has no room for the device's memory: ask for less by `--memory-limit`, or raise `ulimit -v`");
    }
    return said("the addresses of device memory are in use in this program");
}

int function_missing(const char *name) {
    LOCKED;
    struct part part = {name, strlen(name)};
    write_down("a function is missing", name);
    if (server >= 0) ask(MISSING, &part, 1, NULL);
    return NOT_SUPPORTED;
}

/* For libcudart, so that functions that it lacks are in the same report. */
EXPORTED int ptxloom_function_missing(const char *name) { return function_missing(name); }
