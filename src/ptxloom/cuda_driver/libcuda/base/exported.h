/* What programs find in a library. */
#ifndef PTXLOOM_EXPORTED_H
#define PTXLOOM_EXPORTED_H

#define EXPORTED __attribute__((visibility("default")))

/* A function that does what another one of its file does, with the same arguments; mostly an older version of it. */
#define SAME(symbol, target) EXPORTED extern __typeof__(target) symbol __attribute__((alias(#target)))

#endif
