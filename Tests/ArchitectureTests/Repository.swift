import Foundation

/// The checked-out tree these tests read: what a clone holds, not what a build leaves in it.
struct Repository {
    /// The folder that holds Package.swift.
    let root: String
    /// Every text file, in the order of its path.
    let files: [TextFile]

    /// Read once; the tests only look.
    static let shared = Repository()

    /// Folders of a clone. Others, such as `.build`, are not ours.
    private static let folders = ["Sources", "Tests", "docs", "deploy", ".ci"]

    private init(testFile: String = #filePath) {
        let source = URL(fileURLWithPath: testFile).resolvingSymlinksInPath()
        let root = source.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        self.root = root.path

        let manager = FileManager.default
        var paths: [String] = []
        for name in (try? manager.contentsOfDirectory(atPath: root.path)) ?? [] {
            let url = root.appendingPathComponent(name)
            var isFolder: ObjCBool = false
            guard manager.fileExists(atPath: url.path, isDirectory: &isFolder) else { continue }
            if !isFolder.boolValue {
                if Self.isOurs(name) { paths.append(name) }
                continue
            }
            guard Self.folders.contains(name), let inner = manager.enumerator(atPath: url.path) else { continue }
            for case let relative as String in inner {
                if Self.isLeftover((relative as NSString).lastPathComponent) {
                    inner.skipDescendants()
                } else {
                    paths.append(name + "/" + relative)
                }
            }
        }
        files = paths.sorted().compactMap { path in
            let url = root.appendingPathComponent(path)
            guard let data = try? Data(contentsOf: url), data.count < 4 << 20, !data.contains(0) else { return nil }
            return TextFile(path: path, text: String(decoding: data, as: UTF8.self))
        }
    }

    /// Of the files in the root, those a clone has; a log or a list of URLs lying there is nobody's business.
    private static func isOurs(_ name: String) -> Bool {
        name.hasSuffix(".md") || name.hasSuffix(".swift")
            || [".gitignore", ".swift-format", "LICENSE", "Makefile"].contains(name)
    }

    private static func isLeftover(_ name: String) -> Bool {
        name.hasPrefix(".build") || name == "__pycache__" || name.hasSuffix(".swp")
    }

    /// Swift files under a folder, such as `Sources/TrawlHTTP`.
    func swiftFiles(under folder: String) -> [TextFile] {
        files.filter { $0.path.hasPrefix(folder + "/") && $0.path.hasSuffix(".swift") }
    }

    /// Names of the folders of `Sources` that hold a file.
    var targets: [String] {
        Set(files.compactMap { $0.path.hasPrefix("Sources/") ? $0.path.split(separator: "/").dropFirst().first : nil })
            .map(String.init).sorted()
    }

    /// Whether a path relative to the root is there.
    func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root + "/" + path)
    }
}
