import CTrawlCrypto

/// Overwrites bytes that were secret, in a way no compiler leaves out.
package func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    ccrypto_wipe(bytes.baseAddress, bytes.count)
}
