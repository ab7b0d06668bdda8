// printf from one thread, and memory from the device's heap.
#include <stdio.h>
extern "C" __global__ void hello(const int *in, const double *real, int n) {
    if (threadIdx.x == 3) {
        for (int i = 0; i < n; ++i) printf("%d: %5d 0x%08x %u %c\n", i, in[i], in[i], unsigned(in[i]), 'a' + i);
        printf("%s %f %.3e %g %lld%%\n", "reals", real[0], real[1], float(real[2]), 1234567890123ll);
    }
}
struct Node { int value; Node *next; };
extern "C" __global__ void lists(const int *in, int *out, int n) {
    Node *head = nullptr;
    for (int i = 0; i < n; ++i) {
        Node *node = static_cast<Node *>(malloc(sizeof(Node)));
        node->value = in[threadIdx.x * n + i];
        node->next = head;
        head = node;
    }
    int sum = 0;
    while (head) {
        Node *next = head->next;
        sum = sum * 5 + head->value;
        free(head);
        head = next;
    }
    out[threadIdx.x] = sum;
}
