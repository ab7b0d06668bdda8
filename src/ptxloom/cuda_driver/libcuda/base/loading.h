/* Libraries of NVIDIA's that another of ours stands in front of. */
#ifndef PTXLOOM_LOADING_H
#define PTXLOOM_LOADING_H

int has_a_front(const char *path);

#endif
