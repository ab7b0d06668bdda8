// printf with every kind of argument, assert, malloc and free, new and delete, trap and breakpoints, clocks.
#include <assert.h>
#include <stdio.h>

struct Node {
    int value;
    Node *next;
    __device__ explicit Node(int v) : value(v), next(nullptr) {}
    __device__ virtual ~Node() { printf("node %d gone\n", value); }
};

extern "C" __global__ void talk(const int *in, double *out, const char *name) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    printf("hello\n");
    printf("%s: %d of %u, %lld, %f, %c, %p, %%\n", name, in[i], blockDim.x, clock64(), out[i], 'x', in);
    assert(in[i] >= 0 && "negative input");
    int *scratch = static_cast<int *>(malloc(64 * sizeof(int)));
    if (!scratch) __trap();
    for (int j = 0; j < 64; ++j) scratch[j] = in[(i + j) % 64];
    Node *node = new Node(scratch[in[i] & 63]);
    node->next = new Node(i);
    out[i] = node->value + node->next->value;
    delete node->next;
    delete node;
    free(scratch);
    if (in[i] == 12345) __brkpt();
    out[i] += clock() + threadIdx.y;
    unsigned long long timer;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
    out[i] += timer;
    __prof_trigger(3);
}
