// Package udpbench maps the page that a program shares with udpbench: include/udpbench.h in Go.
package udpbench

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Roles of a program.
const (
	Send, Receive, Client, Server = 1, 2, 3, 4
)

// Page has the fields of struct udpbench_page, at the same offsets.
type Page struct {
	Version, Role, Payload, Buffer, Batch, Connected, Spin, TimeoutMs uint32
	Seed                                                              uint64
	peerBytes, IP                                                     uint32
	peer                                                              [128]byte
	peerText                                                          [64]byte
	Verify, slots, slotBytes, slotsAt                                 uint32

	goOn, stop atomic.Uint32
	_          [56]byte
	slotsReady atomic.Uint64
	_          [184]byte

	Packets, Bytes, _, Errors, Refused, Answered, Late atomic.Uint64
	ready                                                  atomic.Uint32
	_                                                      [452]byte
	rttNs                                                  [65536]uint32
}

// Open maps the page, and makes a connection of the socket that udpbench hands over.
func Open() (*Page, *net.UDPConn) {
	memory, err := mapped()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error: udpbench starts this program: udpbench --engine exec:PROGRAM:", err)
		os.Exit(2)
	}
	conn, err := net.FilePacketConn(os.NewFile(3, "socket"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "error: the socket cannot be used:", err)
		os.Exit(1)
	}
	return (*Page)(unsafe.Pointer(&memory[0])), conn.(*net.UDPConn)
}

func mapped() ([]byte, error) {
	var stat syscall.Stat_t
	if err := syscall.Fstat(4, &stat); err != nil {
		return nil, err
	}
	memory, err := syscall.Mmap(4, 0, int(stat.Size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err == nil && (len(memory) < int(unsafe.Sizeof(Page{})) || (*Page)(unsafe.Pointer(&memory[0])).Version != 1) {
		err = errors.New("descriptor 4 is no page of version 1")
	}
	return memory, err
}

// Wait says that the program is set up, and waits for the start.
func (p *Page) Wait() {
	p.ready.Store(1)
	for p.goOn.Load() == 0 {
		time.Sleep(100 * time.Microsecond)
	}
}

// Stopped returns whether to end.
func (p *Page) Stopped() bool { return p.stop.Load() != 0 }

// Peer returns the address to send to: an invalid one where the socket has its peer already.
func (p *Page) Peer() netip.AddrPort {
	if p.Connected == 1 || p.peerBytes == 0 {
		return netip.AddrPort{}
	}
	text, _, _ := strings.Cut(string(p.peerText[:]), "\x00")
	return netip.MustParseAddrPort(text)
}

// Sent counts one call that sent datagrams, or whose first one the kernel refused. Returns whether it sent any.
// Clients and servers count only bytes that they receive.
func (p *Page) Sent(packets, bytes int, err error) bool {
	if err != nil {
		p.Refused.Add(1)
		return false
	}
	if p.Role != Send {
		bytes = 0
	}
	return p.Received(packets, bytes, nil)
}

// Received counts one call that received datagrams or failed. Returns whether it received any.
func (p *Page) Received(packets, bytes int, err error) bool {
	if err != nil {
		p.Errors.Add(1)
		return false
	}
	p.Bytes.Add(uint64(bytes))
	p.Packets.Add(uint64(packets))
	return true
}

// Answer counts a response that came in time.
func (p *Page) Answer(rtt time.Duration) {
	p.rttNs[p.Answered.Load()%65536] = uint32(rtt)
	p.Answered.Add(1)
}

func (p *Page) slot(n uint64) []byte {
	at := uintptr(p.slotsAt) + uintptr(n&uint64(p.slots-1))*uintptr(p.slotBytes)
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(p), at)), p.slotBytes)
}

// Fill writes the content of the n-th datagram during verification. Returns false if the program must end instead.
func (p *Page) Fill(n uint64, datagram []byte) bool {
	for p.Verify == 1 && p.slotsReady.Load() <= n {
		if p.Stopped() {
			return false
		}
		time.Sleep(10 * time.Microsecond)
	}
	if p.Verify == 1 {
		copy(datagram, p.slot(n)[4:])
	}
	return true
}

// Put hands the n-th response (from 0: Answered) to udpbench during verification, before it is counted.
func (p *Page) Put(n uint64, datagram []byte) {
	if p.Verify == 1 {
		slot := p.slot(n)
		*(*uint32)(unsafe.Pointer(&slot[0])) = uint32(len(datagram))
		copy(slot[4:], datagram)
	}
}

// Check hands the n-th received datagram to udpbench during verification.
func (p *Page) Check(n uint64, datagram []byte) {
	for p.Verify == 1 && n-p.slotsReady.Load() >= uint64(p.slots) {
		time.Sleep(10 * time.Microsecond)
	}
	p.Put(n, datagram)
}
