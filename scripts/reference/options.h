// What flood.c was asked for.

// A CPU of -1: not pinned.
struct settings {
    long payload_bytes, batch, rcvbuf_bytes, sender_cpu, receiver_cpu, warmup_ms, window_ms, windows;
};

#define OPTION(name, field, min, max) { name, offsetof(struct settings, field), min, max }
static const struct {
    const char *name;
    size_t offset;
    long min, max;
} OPTIONS[] = {
    OPTION("payload", payload_bytes, 0, MAX_PAYLOAD_BYTES),
    OPTION("batch", batch, 1, MAX_BATCH),
    OPTION("rcvbuf", rcvbuf_bytes, 1, INT32_MAX / 2), // the kernel doubles an int
    OPTION("sender-cpu", sender_cpu, 0, CPU_SETSIZE - 1),
    OPTION("receiver-cpu", receiver_cpu, 0, CPU_SETSIZE - 1),
    OPTION("warmup-ms", warmup_ms, 0, MAX_MS),
    OPTION("window-ms", window_ms, 1, MAX_MS),
    OPTION("windows", windows, 1, MAX_WINDOWS),
};
enum { OPTION_COUNT = sizeof OPTIONS / sizeof *OPTIONS };

static void parse(int argc, char **argv, struct settings *settings)
{
    struct option names[OPTION_COUNT + 1] = { 0 };
    for (int n = 0; n < OPTION_COUNT; n++)
        names[n] = (struct option){ OPTIONS[n].name, required_argument, NULL, n };
    int n;
    while ((n = getopt_long(argc, argv, "", names, NULL)) >= 0 && n < OPTION_COUNT) {
        char *end;
        errno = 0;
        long value = strtol(optarg, &end, 10);
        if (errno || end == optarg || *end || value < OPTIONS[n].min || value > OPTIONS[n].max)
            errx(BAD_INPUT, "--%s takes a number from %ld to %ld, not %s", OPTIONS[n].name,
                 OPTIONS[n].min, OPTIONS[n].max, optarg);
        *(long *)((char *)settings + OPTIONS[n].offset) = value;
    }
    if (n >= 0 || optind < argc) { // '?', or words that are no options
        fprintf(stderr, "usage: %s", argv[0]);
        for (n = 0; n < OPTION_COUNT; n++)
            fprintf(stderr, " [--%s N]", OPTIONS[n].name);
        fprintf(stderr, "\n");
        exit(BAD_INPUT);
    }
}
