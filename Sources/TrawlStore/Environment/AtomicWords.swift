import CTrawlLMDB

// Words shared by threads, at 8-byte aligned places.

@inline(__always)
func loadRelaxed(_ word: UnsafePointer<UInt64>) -> UInt64 { clmdb_load_relaxed(word) }

@inline(__always)
func loadAcquire(_ word: UnsafePointer<UInt64>) -> UInt64 { clmdb_load_acquire(word) }

@inline(__always)
func storeRelease(_ word: UnsafeMutablePointer<UInt64>, _ value: UInt64) { clmdb_store_release(word, value) }

@inline(__always)
func loadOrdered(_ word: UnsafePointer<UInt64>) -> UInt64 { clmdb_load_ordered(word) }

@inline(__always)
func storeOrdered(_ word: UnsafeMutablePointer<UInt64>, _ value: UInt64) { clmdb_store_ordered(word, value) }

@inline(__always)
func exchange(_ word: UnsafeMutablePointer<UInt64>, _ expected: UInt64, _ desired: UInt64) -> Bool {
    clmdb_exchange(word, expected, desired) == 1
}
