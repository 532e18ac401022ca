#define PROCESSES
#include "thread-unix-datagram.c"
