"""The spider that tests/bench/run lets scrapy run: every page of the host of `start`, nothing done with them."""

import urllib.parse

import scrapy
from scrapy.linkextractors import LinkExtractor


class Pages(scrapy.Spider):
    name = "pages"
    custom_settings = {"COOKIES_ENABLED": False, "RETRY_ENABLED": False, "DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False}

    def __init__(self, start, **options):
        super().__init__(**options)
        self.start_urls = [start]
        self.links = LinkExtractor(allow_domains=urllib.parse.urlsplit(start).netloc)

    def parse(self, response):
        if isinstance(response, scrapy.http.HtmlResponse):
            for link in self.links.extract_links(response):
                yield response.follow(link)
