/// Work in order of arrival, bounded, for one consumer at a time.
struct FIFOQueue<Element> {
    /// How many may wait: beyond it the store cannot keep up and says so at once instead of answering too late.
    static var capacity: Int { 16_384 }

    private var arrived: [Element] = []
    private var head = 0

    var count: Int { arrived.count - head }

    /// Puts an element at the end; false when the line is full.
    mutating func append(_ element: Element) -> Bool {
        guard count < Self.capacity else { return false }
        arrived.append(element)
        return true
    }

    /// Takes the first elements, in order.
    mutating func take(atMost limit: Int) -> [Element] {
        let taken = Array(arrived[head..<min(head + limit, arrived.count)])
        head += taken.count
        // What was taken is dropped in bulk, so that taking costs the same however long the line is.
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
