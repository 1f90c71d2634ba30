import ArgumentParser
import TrawlJSON
import TrawlStore

/// `trawl cache verify`
struct CacheVerifyCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read and check every stored byte, and remove what is damaged.",
        discussion: """
            Nothing damaged is ever served: it is found when it is read. This finds it before. The exit status is 65 when \
            there was something.
            """)

    @OptionGroup var storage: CacheStoreArguments
    @OptionGroup var output: ListingArguments

    func execute(on store: CacheAtHand) throws(CommandError) -> Int32 {
        let found = try store.read(CacheVerification.empty) { (responses) throws(StoreError) in try responses.verify() }
        var lines = ResultLines()
        if output.json {
            try lines.add { writer in
                writer.key("responses")
                writer.integer(found.records)
                writer.key("files")
                writer.integer(found.blobs)
                writer.key("damaged_responses")
                writer.integer(found.damagedRecords)
                writer.key("damaged_files")
                writer.integer(found.damagedBlobs)
            }
        } else {
            try lines.add("responses  \(found.records) read, \(found.damagedRecords) damaged and removed")
            try lines.add("files      \(found.blobs) sound, \(found.damagedBlobs) damaged and removed")
        }
        try lines.flush()
        return found.isSound ? ExitStatus.success : ExitStatus.dataError
    }
}

extension CacheVerification {
    var isSound: Bool { damagedRecords == 0 && damagedBlobs == 0 }
}
