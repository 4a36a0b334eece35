"""Ways to drop datagrams between two network namespaces, and whether udpbench names their place."""
