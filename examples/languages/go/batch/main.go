// Many datagrams per call: sendmmsg and recvmmsg through golang.org/x/net/ipv4. No requests and responses.
package main

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/net/ipv4"

	"udpbench.example/languages/udpbench"
)

func main() {
	page, conn := udpbench.Open()
	if page.Role != udpbench.Send && page.Role != udpbench.Receive {
		fmt.Fprintln(os.Stderr, "error: this program sends and receives batches; it is neither client nor server")
		os.Exit(2)
	}
	// Its batches do for IPv6, too.
	packets := ipv4.NewPacketConn(conn)
	page.Wait()
	if page.Role == udpbench.Send {
		send(page, packets)
	} else {
		receive(page, packets)
	}
}

// messages returns a batch of messages with `bytes` of memory each.
func messages(page *udpbench.Page, bytes uint32) []ipv4.Message {
	batch := make([]ipv4.Message, page.Batch)
	for i := range batch {
		batch[i].Buffers = [][]byte{make([]byte, bytes)}
	}
	return batch
}

func send(page *udpbench.Page, packets *ipv4.PacketConn) {
	batch := messages(page, page.Payload)
	if peer := page.Peer(); peer.IsValid() {
		for i := range batch {
			batch[i].Addr = net.UDPAddrFromAddrPort(peer)
		}
	}
	for !page.Stopped() {
		for i := range batch {
			if !page.Fill(page.Packets.Load()+uint64(i), batch[i].Buffers[0]) {
				return
			}
		}
		sent, err := packets.WriteBatch(batch, 0)
		page.Sent(sent, sent*int(page.Payload), err)
	}
}

func receive(page *udpbench.Page, packets *ipv4.PacketConn) {
	batch := messages(page, page.Buffer)
	for {
		got, err := packets.ReadBatch(batch, 0)
		bytes := 0
		for i := 0; i < got; i++ {
			bytes += batch[i].N
			page.Check(page.Packets.Load()+uint64(i), batch[i].Buffers[0][:batch[i].N])
		}
		page.Received(got, bytes, err)
	}
}
