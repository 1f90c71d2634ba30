/// A property of an object that is reached without the run-time check that no two accesses to it overlap.
///
/// Swift makes that check at each access of an object's property that may be changed by a method of its own, ten times
/// and more for every line of a head. For objects of one thread whose methods do not hand a property on while they
/// change it. The owner calls `free()` in its `deinit`.
@propertyWrapper
struct Unchecked<Value> {
    private let place: UnsafeMutablePointer<Value>

    init(wrappedValue: Value) {
        place = .allocate(capacity: 1)
        place.initialize(to: wrappedValue)
    }

    @inline(__always)
    var wrappedValue: Value {
        get { place.pointee }
        nonmutating set { place.pointee = newValue }
        nonmutating _modify { yield &place.pointee }
    }

    /// Ends the value's life.
    func free() {
        place.deinitialize(count: 1)
        place.deallocate()
    }
}
