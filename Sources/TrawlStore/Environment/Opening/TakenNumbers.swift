import Glibc

/// Keeps the numbers 0 to 2 from the files that a library opens, in a host that closed its standard streams: what is
/// printed there would be written into them.
struct TakenNumbers {
    private var taken: [Int32] = []

    /// Fills those that are free.
    init() {
        for number in 0...2 as ClosedRange<Int32> where fcntl(number, F_GETFD) < 0 {
            let opened = open("/dev/null", O_RDWR | O_CLOEXEC)
            if opened < 0 { return }
            // Other threads open files too.
            if opened > 2 { close(opened) } else { taken.append(opened) }
        }
    }

    /// Frees them again, but for those that the host has put to use meanwhile: standard streams are not close-on-exec.
    func give() {
        for number in taken where fcntl(number, F_GETFD) == FD_CLOEXEC { close(number) }
    }
}
