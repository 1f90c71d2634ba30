import Synchronization

/// A reference to an object that is known later than its owner is made, and never changes once it is known.
///
/// Asked often and by many threads, so neither with a lock nor with `AtomicLazyReference`, which takes a dozen times as
/// long where it is not specialised for its object.
final class LateReference<Object: AnyObject & Sendable>: Sendable {
    /// Those of an object that is retained here until `deinit`; 0 for none.
    private let bits = Atomic<UInt>(0)

    /// The object, once it is known.
    @inline(__always)
    func load() -> Object? {
        UnsafeRawPointer(bitPattern: bits.load(ordering: .acquiring)).map {
            Unmanaged<Object>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Lends the object to `body`, once it is known. Not retained once more: it is here as long as this.
    @inline(__always)
    func with<Result>(_ body: (Object) -> Result) -> Result? {
        UnsafeRawPointer(bitPattern: bits.load(ordering: .acquiring)).map {
            Unmanaged<Object>.fromOpaque($0)._withUnsafeGuaranteedRef(body)
        }
    }

    /// Makes the object known, unless one is already.
    ///
    /// - Returns: The one that is known now.
    func set(_ object: Object) -> Object {
        let retained = Unmanaged.passRetained(object)
        let value = UInt(bitPattern: retained.toOpaque())
        let (isFirst, _) = bits.compareExchange(expected: 0, desired: value, ordering: .acquiringAndReleasing)
        if isFirst { return object }
        retained.release()
        return load() ?? object
    }

    deinit {
        if let place = UnsafeRawPointer(bitPattern: bits.load(ordering: .relaxed)) {
            Unmanaged<Object>.fromOpaque(place).release()
        }
    }
}
