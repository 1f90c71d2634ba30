"""fetch_scrapy.py LIST: fetches "URL TAB FILE" lines with Scrapy, 64 at a time, all of its optional work turned off."""
import sys
import scrapy
from scrapy.crawler import CrawlerProcess


class Fetcher(scrapy.Spider):
    name = "fetcher"

    async def start(self):
        with open(sys.argv[1]) as file:
            for line in file:
                url, path = line.rstrip("\n").split("\t")
                yield scrapy.Request(url, dont_filter=True, cb_kwargs={"path": path})

    def parse(self, response, path):
        with open(path, "wb", buffering=0) as file:
            file.write(response.body)


process = CrawlerProcess({
    "CONCURRENT_REQUESTS": 64, "CONCURRENT_REQUESTS_PER_DOMAIN": 64, "DOWNLOAD_DELAY": 0, "LOG_LEVEL": "ERROR",
    "ROBOTSTXT_OBEY": False, "COOKIES_ENABLED": False, "RETRY_ENABLED": False, "REDIRECT_ENABLED": False,
    "AUTOTHROTTLE_ENABLED": False, "COMPRESSION_ENABLED": False, "TELNETCONSOLE_ENABLED": False,
})
process.crawl(Fetcher)
process.start()
