import CCurl

/// libcurl's state that is one per process.
package enum GlobalLibcurl {
    /// Whether it could be set up; the first caller does it, and nobody undoes it.
    package static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
