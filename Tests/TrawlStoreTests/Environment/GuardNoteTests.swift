import Testing

@testable import TrawlStore

@Suite("The boot that an opener notes")
struct GuardNoteTests {
    @Test("is the kernel's name for it, or one of this process where there is none")
    func boot() throws {
        let unknown = GuardNote.currentBoot("/no/such/file")
        #expect(unknown.hasPrefix("unknown-") && unknown == GuardNote.currentBoot("/no/such/file"))
        for name in [unknown, GuardNote.currentBoot()] {
            let note = GuardNote(boot: name, verified: nil)
            #expect(note.text.utf8.count < GuardNote.size)
            #expect(GuardNote(text: note.text) == note)
        }
    }
}
