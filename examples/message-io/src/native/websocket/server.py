"""Echoes in three fragments what comes, and says goodbye after the second message."""

import asyncio

from websockets.asyncio.server import serve


async def echo(peer):
    for _ in range(2):
        message = await peer.recv()
        third = len(message) // 3
        await peer.send([message[:third], message[third : 2 * third], message[2 * third :]])
    await peer.close()


async def main():
    async with serve(echo, "127.0.0.1", 0) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().create_future()


asyncio.run(main())
