/* Programs that do something wrong, each by the name of its file. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <sys/socket.h>

#include "udpbench.h"

static int is_called(const char *path, const char *name)
{
    const char *last = strrchr(path, '/');
    return strcmp(last ? last + 1 : path, name) == 0;
}

int main(int argc, char **argv)
{
    volatile struct udpbench_page *page = udpbench_open();
    if (argc != 1 || !page)
        return 2;
    const char *me = argv[0];
    if (is_called(me, "exits"))
        return fputs("no such file: loop.toml\n", stderr), 3;
    if (is_called(me, "hangs"))
        for (;;)
            pause();
    if (is_called(me, "has-company") && fork() == 0)
        for (;;)
            pause();
    if (is_called(me, "forks-and-leaves")) {
        if (fork() == 0)
            for (;;)
                pause();
        return 0;
    }
    if (is_called(me, "tells-its-class")) {
        struct sched_param with;
        sched_getparam(0, &with);
        return printf("class %d, priority %d\n", sched_getscheduler(0), with.sched_priority), 3;
    }
    if (is_called(me, "closes-its-output"))
        fclose(stdout), fclose(stderr), close(1), close(2);
    udpbench_wait(page);
    if (is_called(me, "forks-late") && fork() == 0)
        for (;;)
            pause();
    if (is_called(me, "leaves-a-daemon") && fork() == 0) {
        setsid();
        if (fork() == 0)
            for (;;)
                pause();
        _exit(0);
    }
    if (is_called(me, "crashes"))
        raise(SIGSEGV);
    if (is_called(me, "talks-much"))
        for (int n = 0; n < 100000; n++)
            puts("0123456789 0123456789 0123456789 0123456789 0123456789 0123456789");
    if (is_called(me, "ignores-the-end")) {
        signal(SIGTERM, SIG_IGN);
        for (;;)
            udpbench_count(page, 0, 0);
    }
    static uint8_t datagram[65536];
    while (is_called(me, "forgets-bytes") && !udpbench_stopped(page)) {
        int receives = page->role == UDPBENCH_RECEIVE;
        ssize_t moved = receives ? recv(UDPBENCH_SOCKET, datagram, page->buffer, 0)
                                 : send(UDPBENCH_SOCKET, datagram, page->payload, 0);
        udpbench_count(page, moved > 0, 0);
    }
    while (!udpbench_stopped(page)) {
        usleep(1000);
        if (is_called(me, "writes-garbage"))
            for (size_t at = 0; at < 56; at++)
                ((volatile uint8_t *)&page->packets)[at] = (uint8_t)rand();
        else if (is_called(me, "lies-hugely"))
            page->packets += 0xf0000000u, page->bytes = page->packets * page->payload, page->answered = page->packets;
        else if (is_called(me, "counts-ahead"))
            udpbench_count(page, 5000, 5000 * page->payload);
        else if (is_called(me, "lies"))
            udpbench_count(page, 1000, 1000 * page->payload);
    }
    return 0;
}
