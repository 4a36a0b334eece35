// What both halves of a technique, its sender and its receiver, are given and give back.

// A bound socket, connected unless a half defines UNCONNECTED.
struct end {
    int fd;
    struct sockaddr_in peer;
    size_t payload_bytes;
    unsigned batch; // datagrams that one call may move, where it can move several
};

// What one call moved.
struct burst {
    uint64_t packets, bytes;
};

// What is sent, or received into. Not zeros, which the kernel might back with one shared page.
static char *new_buffer(size_t bytes)
{
    char *buffer = malloc(bytes + 1);
    if (!buffer)
        err(BROKEN, "no memory for a buffer");
    return memset(buffer, 0xA5, bytes + 1);
}

// The same, from the start of a page.
static inline void *new_pages(size_t bytes)
{
    void *pages;
    errno = posix_memalign(&pages, sysconf(_SC_PAGESIZE), bytes);
    if (errno)
        err(BROKEN, "no memory for a buffer");
    return memset(pages, 0xA5, bytes);
}

// What a receive moved that failed and set errno.
static struct burst no_burst(const char *call)
{
    if (errno != EINTR)
        err(BROKEN, "%s", call);
    return (struct burst){ 0 };
}
