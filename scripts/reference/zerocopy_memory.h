// Memory from which the kernel sends without a copy: of about what a second-level cache holds, in buffers that start a
// page or do not cross one, so that each takes few fragments of a packet.

enum { MOST_BUFFERS = 256, MOST_MEMORY_BYTES = 1 << 20, PAGE_BYTES = 4096 };

// From one buffer to the next.
static size_t stride_of(size_t payload_bytes)
{
    if (payload_bytes > PAGE_BYTES)
        return (payload_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    size_t stride = 1;
    while (stride < payload_bytes)
        stride *= 2;
    return stride;
}
