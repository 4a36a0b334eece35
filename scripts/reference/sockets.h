// Sockets of 127.0.0.1, and what the kernel says of them.

// A socket on a port of 127.0.0.1 that the kernel chooses.
static int bound_socket(struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t length = sizeof *address;
    *address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (fd < 0 || bind(fd, (struct sockaddr *)address, length) < 0 ||
        getsockname(fd, (struct sockaddr *)address, &length) < 0)
        err(BROKEN, "cannot bind a socket to 127.0.0.1; is lo up?");
    return fd;
}

static void connect_to(int fd, const struct sockaddr_in *peer)
{
    if (connect(fd, (const struct sockaddr *)peer, sizeof *peer) < 0)
        err(BROKEN, "cannot connect a socket of 127.0.0.1");
}

// Where more than net.core.rmem_max or wmem_max is not permitted, that is granted (socket(7)).
static void set_buffer(int fd, int forced, int plain, int bytes)
{
    socklen_t length = sizeof bytes;
    if (setsockopt(fd, SOL_SOCKET, forced, &bytes, length) < 0 &&
        setsockopt(fd, SOL_SOCKET, plain, &bytes, length) < 0)
        err(BROKEN, "cannot set the size of a socket's buffer");
}

// What messages go over: NONE is UDP.
enum connection { NONE, UNIX_DGRAM, UNIX_STREAM, TCP };

// Makes both ends of a connection within this program. TCP's have buffers of that size: those that the kernel
// chooses grow with the age of a connection, each time to another size, and what a message costs with them.
static void open_connection(enum connection connection, int buffer_bytes, int *sender, int *receiver)
{
    if (connection != TCP) {
        int type = connection == UNIX_DGRAM ? SOCK_DGRAM : SOCK_STREAM, ends[2];
        if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) < 0)
            err(BROKEN, "cannot make a pair of Unix sockets");
        *sender = ends[0];
        *receiver = ends[1];
        return;
    }
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *sender = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || *sender < 0)
        err(BROKEN, "cannot make a socket");
    // What the listener has, its connections get.
    set_buffer(listener, SO_RCVBUFFORCE, SO_RCVBUF, buffer_bytes);
    set_buffer(*sender, SO_SNDBUFFORCE, SO_SNDBUF, buffer_bytes);
    if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) < 0)
        err(BROKEN, "cannot listen on 127.0.0.1; is lo up?");
    connect_to(*sender, &address);
    *receiver = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (*receiver < 0)
        err(BROKEN, "cannot accept a connection");
    close(listener);
}

// What was granted: twice what was asked for (socket(7)).
static uint64_t rcvbuf(int fd)
{
    int bytes;
    socklen_t length = sizeof bytes;
    if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &length) < 0)
        err(BROKEN, "cannot read SO_RCVBUF");
    return bytes;
}

// What the socket has dropped since it was made (sock_diag(7), struct sk_meminfo): datagrams, or what the
// sender handed over as one.
static uint64_t drops(int fd)
{
    uint32_t meminfo[SK_MEMINFO_VARS] = { 0 };
    socklen_t length = sizeof meminfo;
    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, meminfo, &length) < 0)
        err(BROKEN, "cannot read SO_MEMINFO, which needs Linux 4.12");
    if (length <= SK_MEMINFO_DROPS * sizeof *meminfo)
        errx(BROKEN, "this kernel's SO_MEMINFO has no drops; use Linux 4.12 or later");
    return meminfo[SK_MEMINFO_DROPS];
}
