// What programs claim: each claim that fails is told with its line, and counted.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

static int failures = 0;
#define CLAIM(what)                                                                     \
    do {                                                                                \
        if (!(what)) failures++, std::printf("line %d: not so: %s\n", __LINE__, #what); \
    } while (0)
#define OK(call)                                                                                                            \
    do {                                                                                                                    \
        cudaError_t error_ = (call);                                                                                        \
        if (error_ != cudaSuccess) failures++, std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error_)); \
    } while (0)

struct Topic {
    const char *name;
    void (*check)();
};

// `./program TOPIC` ends with the number of claims that failed.
template <int count> static int told(const Topic (&topics)[count], int words, char **arguments) {
    for (auto &topic : topics)
        if (words == 2 && std::strcmp(arguments[1], topic.name) == 0) {
            topic.check();
            std::printf("%s: %d claims failed\n", topic.name, failures);
            return failures;
        }
    return 99;
}
