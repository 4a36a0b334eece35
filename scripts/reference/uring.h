// A ring of io_uring, with liburing, for the thread that makes it (SINGLE_ISSUER). Completions are worked off
// only when it asks for them (DEFER_TASKRUN, Linux 6.1). Its one registered file, number 0, is the socket.

#pragma once
#include <liburing.h>

enum { SOCKET = 0 };

static void open_ring(struct io_uring *ring, int fd, unsigned submissions, unsigned completions)
{
    struct io_uring_params params = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CLAMP |
                 IORING_SETUP_CQSIZE,
        .cq_entries = completions,
    };
    errno = -io_uring_queue_init_params(submissions, ring, &params);
    if (errno)
        err(CANNOT_RUN_HERE, "io_uring (Linux before 6.1, kernel.io_uring_disabled, or seccomp)");
    errno = -io_uring_register_files(ring, &fd, 1);
    if (errno)
        err(BROKEN, "cannot register the socket with io_uring");
}
