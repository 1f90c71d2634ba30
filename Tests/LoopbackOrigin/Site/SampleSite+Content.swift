extension SampleSite {
    /// Media type and bytes of an address that answers 200.
    static func content(_ resource: Resource, host: String) -> (type: String, body: [UInt8]) {
        let html = "text/html; charset=utf-8"
        switch resource {
        case .index: return (html, index(host: host))
        case .section(let section): return (html, sectionPage(section, host: host))
        case .article(let section, let number): return (html, article(section, number, host: host))
        case .tag(let tag, let page): return (html, tagPage(tag, page))
        case .image(let number): return ("image/png", PNG.picture(seed: UInt64(number)))
        case .style(let isPrint): return ("text/css", style(isPrint: isPrint))
        case .script(let number): return ("text/javascript", Array("console.log(\"script \(number)\");\n".utf8))
        case .report(let number):
            let text = (0..<20 + number * 10).map { "\($0): \(words(6, seed: UInt64(number * 1000 + $0)))\n" }.joined()
            return ("text/plain; charset=utf-8", Array("Report \(number)\n\(text)".utf8))
        case .large: return ("application/octet-stream", large)
        case .redirect: return ("text/plain", [])
        case .restricted(let number):
            return (html, page("Private \(number)", root: "/site/", "<p>robots.txt asks crawlers to stay away.</p>\n"))
        case .robots:
            let rules =
                "User-agent: *\nDisallow: /site/private/\nAllow: /\n\nSitemap: http://\(host)/site/sitemap.xml\n"
            return ("text/plain", Array(rules.utf8))
        case .sitemap: return ("application/xml", sitemap(host: host))
        case .feed: return ("application/rss+xml", feed(host: host))
        }
    }

    /// 2 MiB, made once.
    static let large = ByteStream(seed: 20).bytes(0..<2 << 20)

    // MARK: - Pages

    private static func page(_ title: String, root: String, _ main: String) -> [UInt8] {
        let text = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <title>\(title)</title>
            <link rel="stylesheet" href="\(root)style.css">
            <link rel="stylesheet" href="\(root)print.css" media="print">
            <script src="\(root)app.js" defer></script>
            </head>
            <body id="top">
            <h1>\(title)</h1>
            \(main)<p><a href="\(root)">Home</a> <a href="#top">Top</a></p>
            </body>
            </html>

            """
        return Array(text.utf8)
    }

    private static func list(_ links: [(String, String)]) -> String {
        "<ul>\n" + links.map { "<li><a href=\"\($0.0)\">\($0.1)</a></li>\n" }.joined() + "</ul>\n"
    }

    private static func index(host: String) -> [UInt8] {
        let sections = list((0..<sectionCount).map { ("s/\(two($0))/", "Section \($0)") })
        let tags = list((0..<tagCount).map { ("tag?t=\($0)&amp;page=1", "Tag \($0)") })
        let files = list([
            ("files/large.bin", "A large file"), ("/site/feed.xml", "Feed"), ("/site/sitemap.xml", "Site map"),
            ("http://\(host)/robots.txt", "Robots"), ("missing.html", "A page that is not there"),
        ])
        let restricted = list((0..<privateCount).map { ("private/\($0).html", "Private \($0)") })
        let script = "<script src=\"/site/extra.js\"></script>\n"
        return page("Sample site", root: "/site/", sections + tags + files + restricted + script)
    }

    private static func sectionPage(_ section: Int, host: String) -> [UInt8] {
        let articles = list(
            (0..<articleCount).map { number in
                let name = "a\(two(number)).html"
                let url =
                    number % 10 == 3 ? "http://\(host)\(path(section, number))" : number % 10 == 4 ? "./\(name)" : name
                return (url, "Article \(number)")
            })
        let next = (section + 1) % sectionCount
        return page("Section \(section)", root: "../../", articles + list([("../\(two(next))/", "Next section")]))
    }

    private static func article(_ section: Int, _ number: Int, host: String) -> [UInt8] {
        let seed = UInt64(section * 1000 + number)
        var main = ""
        for part in 1...2 + number % 4 {
            main += "<h2 id=\"part-\(part)\">Part \(part)</h2>\n"
            main += "<p>\(words(60 + (section * 37 + number * 11) % 120, seed: seed * 10 + UInt64(part)))</p>\n"
        }
        let image = (section * articleCount + number) % imageCount
        main += "<p><img src=\"../../img/\(image).png\" alt=\"Picture \(image)\" width=\"16\" height=\"16\"></p>\n"
        let next = (number + 1) % articleCount
        let tag = (section + number) % tagCount
        var links = [
            ("a\(two(next)).html", "Next"), ("a\(two(next)).html#part-2", "Next, part 2"), ("#part-1", "Part 1"),
            ("./", "Section"), ("//\(host)\(path(section: (section + number) % sectionCount))", "Another section"),
            ("/site/tag?t=\(tag)&amp;page=\(1 + number % 2)", "Tag \(tag)"),
        ]
        if number % 7 == 0 { links.append(("../../files/report-\((section + number) % reportCount).txt", "Report")) }
        if number == 11, section < redirectCount { links.append(("../../old/\(section)", "Moved")) }
        if section == 5, number == 9 { links.append(("gone.html", "Gone")) }
        return page("Article \(section).\(number)", root: "../../", main + list(links))
    }

    private static func tagPage(_ tag: Int, _ page: Int) -> [UInt8] {
        let links = (0..<sectionCount).map { section in
            let number = ((tag - section) % tagCount + tagCount) % tagCount + (page == 2 ? tagCount : 0)
            return (path(section, number), "Article \(section).\(number)")
        }
        let other = list([("?t=\(tag)&amp;page=\(3 - page)", "Page \(3 - page)")])
        return self.page("Tag \(tag), page \(page)", root: "/site/", list(links) + other)
    }

    // MARK: - Other files

    private static func style(isPrint: Bool) -> [UInt8] {
        Array(isPrint ? "nav { display: none }\n".utf8 : "body { background: url(\"img/0.png\"); margin: 2em }\n".utf8)
    }

    private static func sitemap(host: String) -> [UInt8] {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text += "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
        for (path, resource) in entries {
            switch resource {
            case .index, .section, .article: text += "<url><loc>http://\(host)\(path)</loc></url>\n"
            default: continue
            }
        }
        return Array((text + "</urlset>\n").utf8)
    }

    private static func feed(host: String) -> [UInt8] {
        let items = (0..<sectionCount).map { section in
            "<item><title>Article \(section).0</title><link>http://\(host)\(path(section, 0))</link></item>\n"
        }
        let start =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\"><channel><title>Sample site</title>\n"
        return Array((start + items.joined() + "</channel></rss>\n").utf8)
    }

    /// Deterministic filler text.
    private static func words(_ count: Int, seed: UInt64) -> String {
        let stream = ByteStream(seed: seed)
        return (0..<count).map { vocabulary[Int(stream.word($0) % UInt64(vocabulary.count))] }.joined(separator: " ")
    }

    private static let vocabulary = [
        "harbour", "net", "line", "tide", "boat", "anchor", "deep", "shoal", "catch", "mesh", "buoy", "current", "wind",
        "chart", "crew", "rope", "keel", "mast", "sail", "drift", "shore", "gull", "salt", "wave", "hull", "winch",
        "knot",
        "float", "haul", "quay", "rudder", "swell", "naïve", "façade", "crème", "über",
    ]
}
