import Glibc

/// Whether tests run in the form that takes minutes: `TRAWL_LONG_TESTS` is set, to whatever it may be.
package let runsLongTests = getenv("TRAWL_LONG_TESTS") != nil
