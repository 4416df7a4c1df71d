import Testing

@testable import countersign

@Suite("The connections of a process")
struct ConnectionBudgetTests {
    @Test("are as many as the file descriptors allow, and a start with next to none is refused")
    func budget() {
        let needed = ConnectionBudget.descriptors(for: 1000, probes: 128)
        #expect(ConnectionBudget.connections(of: 1000, probes: 128, descriptors: needed) == 1000)
        #expect(ConnectionBudget.connections(of: 1000, probes: 128, descriptors: needed - 2) == 999)
        #expect(ConnectionBudget.connections(of: 1000, probes: 128, descriptors: 400) == nil)
        #expect(ConnectionBudget.connections(of: 1000, probes: 128, descriptors: 0) == nil)
        #expect(ConnectionBudget.connections(of: 32, probes: 128, descriptors: 448) == 32)
        #expect(ConnectionBudget.descriptors(for: .max, probes: 128) == .max)
    }
}
