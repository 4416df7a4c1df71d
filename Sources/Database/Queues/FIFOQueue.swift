/// A bounded first-in, first-out queue for one consumer at a time.
struct FIFOQueue<Element> {
    /// The maximum length. A longer queue means that the store is too slow, so a caller is refused at once instead of
    /// answered too late.
    static var capacity: Int { 16_384 }

    private var arrived: [Element] = []
    private var head = 0

    var count: Int { arrived.count - head }

    /// Appends an element; `false` if the queue is full.
    mutating func append(_ element: Element) -> Bool {
        guard count < Self.capacity else { return false }
        arrived.append(element)
        return true
    }

    /// Removes and returns the first elements, in order.
    mutating func take(atMost limit: Int) -> [Element] {
        let taken = Array(arrived[head..<min(head + limit, arrived.count)])
        head += taken.count
        // Removed elements are dropped in bulk, so the cost does not depend on the length.
        if head == arrived.count {
            arrived.removeAll(keepingCapacity: arrived.capacity <= 1024)
            head = 0
        } else if head >= 1024 {
            arrived.removeFirst(head)
            head = 0
        }
        return taken
    }
}
