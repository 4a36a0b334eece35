// One datagram per call of package net, which waits for readiness with epoll.
package main

import (
	"bytes"
	"encoding/binary"
	"net"
	"net/netip"
	"time"

	"udpbench.example/languages/udpbench"
)

func main() {
	page, conn := udpbench.Open()
	page.Wait()
	switch page.Role {
	case udpbench.Send:
		send(page, conn)
	case udpbench.Client:
		ask(page, conn)
	default:
		receive(page, conn)
	}
}

// sendOne sends one datagram, to the connected peer if `to` is invalid. Returns whether the kernel took it.
func sendOne(page *udpbench.Page, conn *net.UDPConn, datagram []byte, to netip.AddrPort) bool {
	var err error
	if to.IsValid() {
		_, err = conn.WriteToUDPAddrPort(datagram, to)
	} else {
		_, err = conn.Write(datagram)
	}
	return page.Sent(1, len(datagram), err)
}

func send(page *udpbench.Page, conn *net.UDPConn) {
	datagram, to := make([]byte, page.Payload), page.Peer()
	for !page.Stopped() && page.Fill(page.Packets.Load(), datagram) {
		sendOne(page, conn, datagram, to)
	}
}

// receive receives datagrams; a server sends each of them back.
func receive(page *udpbench.Page, conn *net.UDPConn) {
	datagram := make([]byte, page.Buffer)
	for {
		got, from, err := conn.ReadFromUDPAddrPort(datagram)
		if err == nil {
			page.Check(page.Packets.Load(), datagram[:got])
		}
		if !page.Received(1, got, err) || page.Role != udpbench.Server {
			continue
		}
		_, err = conn.WriteToUDPAddrPort(datagram[:got], from)
		if page.Sent(0, 0, err) {
			page.Answered.Add(1)
		}
	}
}

func ask(page *udpbench.Page, conn *net.UDPConn) {
	request, response := make([]byte, page.Payload), make([]byte, page.Buffer)
	to, timeout := page.Peer(), time.Duration(page.TimeoutMs)*time.Millisecond
	for n := uint64(0); !page.Stopped(); n = page.Packets.Load() {
		binary.LittleEndian.PutUint64(request, n<<16) // from byte 2 on: a response repeats the first 8 bytes
		if !page.Fill(n, request) {
			return
		}
		sent := time.Now()
		conn.SetReadDeadline(sent.Add(timeout))
		if !sendOne(page, conn, request, to) {
			continue
		}
		got := await(page, conn, request[:8], response)
		rtt := time.Since(sent)
		if got > 0 {
			page.Put(page.Answered.Load(), response[:got])
			page.Answer(rtt)
		}
	}
}

// await waits for the response that begins like its request. Returns its length, or 0 if it does not come in time.
func await(page *udpbench.Page, conn *net.UDPConn, head, response []byte) int {
	for {
		got, err := conn.Read(response)
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
			return 0
		}
		if !page.Received(0, got, err) {
			continue
		}
		if bytes.HasPrefix(response[:got], head) {
			return got
		}
		page.Late.Add(1)
	}
}
