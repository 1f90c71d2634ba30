import CTrawlPlatform
import Glibc

/// Questions about the terminal behind a descriptor.
package enum Terminal {
    /// Whether there is one.
    package static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// Its width; 80 when it does not say.
    package static func columns(_ descriptor: Int32) -> Int {
        let columns = cplatform_terminal_columns(descriptor)
        return columns > 0 ? Int(columns) : 80
    }

    /// Its height; 24 when it does not say.
    package static func rows(_ descriptor: Int32) -> Int {
        let rows = cplatform_terminal_rows(descriptor)
        return rows > 0 ? Int(rows) : 24
    }

    /// Whether it is the one that this process's keyboard signals come from.
    package static func isControlling(_ descriptor: Int32) -> Bool {
        tcgetsid(descriptor) >= 0
    }

    /// Whether it is this process's own and this process is in its foreground.
    package static func isForeground(_ descriptor: Int32) -> Bool {
        cplatform_is_foreground(descriptor) != 0
    }

    /// Whether this process may draw on it: not from the background of its own terminal. Another's has no foreground
    /// that this process could be in (tcgetpgrp(3): ENOTTY), and nobody types at it to a shell of this session.
    package static func mayDraw(_ descriptor: Int32) -> Bool {
        !isControlling(descriptor) || isForeground(descriptor)
    }
}
