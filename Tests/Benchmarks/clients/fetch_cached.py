"""fetch_cached.py requests-cache|hishel STORE LIST hits|checks|fills: gets all URLs of LIST, one after the other.

Fails unless each was answered by the cache alone (hits), after asking the origin (checks), or not (fills). Prints one
JSON line about the loop alone: wall time and CPU of one request.
"""
import json, os, sys, time

library, store, path, wanted = sys.argv[1:]
os.makedirs(store, exist_ok=True)

if library == "requests-cache":
    import requests_cache
    client = requests_cache.CachedSession(
        backend=requests_cache.SQLiteCache(f"{store}/cache.sqlite", fast_save=True, wal=True), cache_control=True)
    client.trust_env = False

    def kind(response):
        if getattr(response, "revalidated", False):
            return "checks"
        return "hits" if response.from_cache else "fills"
else:
    import hishel, hishel.httpx
    # rfc: by default all is stored for good, whatever the origin says.
    client = hishel.httpx.CacheClient(
        storage=hishel.SqliteStorage(database_path=f"{store}/cache.sqlite"), rfc=True, trust_env=False)

    def kind(response):
        status = response.extensions["caching"]
        if status["revalidated"]:
            return "checks"
        return "hits" if status["from_cache"] else "fills"

with open(path) as file:
    urls = [line.rstrip("\n") for line in file]
wall, cpu = time.perf_counter(), time.process_time()
for url in urls:
    response = client.get(url)
    if response.status_code != 200 or not response.content or kind(response) != wanted:
        raise SystemExit(f"{url}: {response.status_code}, {kind(response)}")
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
client.close()
print(json.dumps({"perSecond": len(urls) / wall, "microseconds": cpu / len(urls) * 1e6}))
