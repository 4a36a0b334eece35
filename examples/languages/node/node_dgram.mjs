#!/usr/bin/env node
// Datagrams through Node's dgram. Node cannot map memory: each look at the page and each count is a system call (pread,
// pwrite), which is part of what is measured here, as is dgram itself.
import dgram from 'node:dgram'
import fs from 'node:fs'

const [SEND, RECEIVE, CLIENT, SERVER, SOCKET, PAGE] = [1, 2, 3, 4, 3, 4]
// Offsets of include/udpbench.h.
const [PEER_TEXT, GO, STOP, SLOTS_READY, COUNTS, READY, RTT_NS] = [176, 256, 260, 320, 512, 568, 1024]
const [PACKETS, BYTES, ERRORS, REFUSED, ANSWERED, LATE] = [0, 1, 3, 4, 5, 6]

const read = (array, offset) => fs.readSync(PAGE, array, 0, array.byteLength, offset) && array
const write = (array, offset) => fs.writeSync(PAGE, array, 0, array.byteLength, offset)
const u32 = (offset) => read(new Uint32Array(1), offset)[0]
const u64 = (offset) => Number(read(new BigUint64Array(1), offset)[0])
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0.1)

const fail = (message) => console.error(`error: ${message}`) || process.exit(2)

const head = new Uint32Array(64)
try { read(head, 0) } catch { /* checked below */ }
const [version, role, payload, , , connected, , timeoutMs] = head
if (version !== 1) fail('udpbench starts this program: udpbench --engine exec:PROGRAM')
if (connected && role !== RECEIVE) fail('dgram cannot send over a connected descriptor: use --connection unconnected')
const [ip, verify, slots, slotBytes, slotsAt] = [head[11], ...head.subarray(60)]
const peer = read(Buffer.alloc(64), PEER_TEXT).toString().match(/^\[?([^\]\0]+)\]?:(\d+)/)?.slice(1)
const counts = new BigUint64Array(7)
function count(changes) {
  for (const [field, by] of changes) counts[field] += BigInt(by)
  write(counts, COUNTS)
}
const slot = (number) => slotsAt + (number % slots) * slotBytes
function content(number) {
  const datagram = Buffer.alloc(payload)
  // A response repeats these 8 bytes.
  if (!verify && payload >= 8) datagram.writeBigUInt64LE(BigInt(number) << 16n)
  while (verify && u64(SLOTS_READY) <= number && !u32(STOP)) pause()
  return verify ? read(datagram, slot(number) + 4) : datagram
}
const whole = (datagram) => Buffer.concat([Buffer.from(Uint32Array.of(datagram.length).buffer), datagram])
const put = (number, datagram) => verify && write(whole(datagram), slot(number))

const socket = dgram.createSocket(`udp${ip}`)
/** Sends a datagram. Resolves to whether the kernel took it. */
const transmit = (datagram, port, host, packets) => new Promise((resolve) => {
  socket.send(datagram, port, host, (error) => {
    if (error) count([[REFUSED, 1]])
    else count([[PACKETS, packets], [BYTES, role === SEND ? datagram.length : 0]])
    resolve(!error)
  })
})

async function send() {
  let datagram = content(0)
  while (!u32(STOP)) {
    await transmit(datagram, peer[1], peer[0], 1)
    if (verify) datagram = content(Number(counts[PACKETS]))
  }
}

async function ask() {
  let request, arrived
  socket.on('message', (datagram) => {
    count([[BYTES, datagram.length]])
    if (arrived && datagram.subarray(0, 8).equals(request.subarray(0, 8))) arrived(datagram)
    else count([[LATE, 1]])
  })
  while (!u32(STOP)) {
    request = content(Number(counts[PACKETS]))
    const sent = process.hrtime.bigint()
    const response = new Promise((resolve) => (arrived = resolve))
    const timer = setTimeout(arrived, timeoutMs, Buffer.alloc(0))
    const taken = await transmit(request, peer[1], peer[0], 1)
    const datagram = taken && (await response)
    const rttNs = Number(process.hrtime.bigint() - sent)
    clearTimeout(timer)
    arrived = null
    if (!datagram.length) continue
    put(Number(counts[ANSWERED]), datagram)
    write(Uint32Array.of(Math.min(rttNs, 2 ** 32 - 1)), RTT_NS + (Number(counts[ANSWERED]) % 65536) * 4)
    count([[ANSWERED, 1]])
  }
}

function receive(datagram, source) {
  const number = Number(counts[PACKETS])
  while (verify && number - u64(SLOTS_READY) >= slots) pause()
  put(number, datagram)
  count([[PACKETS, 1], [BYTES, datagram.length]])
  if (role !== SERVER) return
  transmit(datagram, source.port, source.address, 0).then((taken) => taken && count([[ANSWERED, 1]]))
}

socket.bind({ fd: SOCKET }, async () => {
  write(Uint32Array.of(1), READY)
  while (!u32(GO)) pause()
  if (role === RECEIVE || role === SERVER) return socket.on('message', receive)
  await (role === SEND ? send() : ask())
  socket.close()
})
