"""fetch_aiohttp.py LIST: fetches "URL TAB FILE" lines with aiohttp, 64 at a time; fails unless all were 200."""
import asyncio, sys
import aiohttp


async def main():
    with open(sys.argv[1]) as file:
        items = iter([line.rstrip("\n").split("\t") for line in file])

    async def lane(session):
        for url, path in items:
            async with session.get(url) as response:
                body = await response.read()
                if response.status != 200:
                    raise SystemExit(f"{url}: {response.status}")
            with open(path, "wb", buffering=0) as file:
                file.write(body)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=64)) as session:
        await asyncio.gather(*(lane(session) for _ in range(64)))


asyncio.run(main())
