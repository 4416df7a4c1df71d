import CountersignClient
import CountersignSync
import Fixtures
import Foundation
import Testing

/// Three devices on two nodes, one of which is killed again and again while they synchronize.
@Suite("Streams while nodes are killed", .serialized)
struct KillTests {
    private enum Step: CaseIterable { case send, reply, read, share, keep, tag, delete }

    /// What a run knows of its messages.
    private final class Record {
        /// What each device wrote and did not take back unsent, in its order.
        var written: [[UUID]]
        var deleted: Set<UUID> = []
        /// The numbers that devices have seen: they are never given again.
        var numbers: [UUID: Int64] = [:]

        init(devices: Int) { written = Array(repeating: [], count: devices) }
    }

    private static func number(_ name: String, default value: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? value
    }

    private static func shown(_ device: MessagingDevice, _ stream: UUID) async throws -> [ShownMessage] {
        try await device.local.messages(in: stream, limit: 100_000).sections.flatMap(\.messages)
    }

    /// One change on a device, without any service.
    private static func act(
        _ step: Step, _ index: Int, _ device: MessagingDevice, _ stream: UUID, _ record: Record,
        _ random: inout SeededRandom
    ) async throws {
        let messages = try await shown(device, stream)
        switch step {
        case .send, .reply:
            let reply = step == .reply ? messages.filter { $0.sequence != nil }.randomElement(using: &random)?.id : nil
            let count = record.written.reduce(0) { $0 + $1.count }
            let message = NewMessage([.text("\(index) \(count)")], inReplyTo: reply)
            try await device.local.send(message, to: stream)
            record.written[index].append(message.id)
        case .read: try await device.local.markRead(stream)
        case .share:
            let name = "k\(Int.random(in: 0..<3, using: &random))"
            var value = try await device.local.metadata(of: stream)
            value = value.merged(with: .object([name: .integer(Int64.random(in: 0..<1000, using: &random))]))
            try await device.local.set(value, of: stream)
        case .keep:
            let value = MetadataValue.object(["own": .integer(Int64.random(in: 0..<1000, using: &random))])
            try await device.local.set(value, .own, of: stream)
        case .tag:
            let known = messages.filter { !$0.isDeleted && $0.sequence != nil }
            guard let message = known.randomElement(using: &random) else { return }
            let name = "k\(Int.random(in: 0..<3, using: &random))"
            let patch = MetadataValue.object([name: .integer(Int64.random(in: 0..<1000, using: &random))])
            let visibility: Streams.Visibility = Bool.random(using: &random) ? .shared : .own
            try await device.local.merge(patch, visibility, into: message.id, in: stream)
        case .delete:
            let own = messages.filter { $0.isOwn && !$0.isDeleted && $0.sequence != nil }
            guard let message = own.randomElement(using: &random) else { return }
            try await device.local.delete(message.id, in: stream)
            record.deleted.insert(message.id)
        }
    }

    /// Every device does something, then all synchronize while a node dies.
    private static func round(
        _ devices: [MessagingDevice], _ node: RunningService, _ stream: UUID, _ record: Record,
        _ random: inout SeededRandom
    ) async throws {
        for (index, device) in devices.enumerated() {
            for _ in 0..<2 {
                let step = Step.allCases.randomElement(using: &random) ?? .send
                try await act(step, index, device, stream, record, &random)
            }
        }
        let delay = Int.random(in: 0..<120, using: &random)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices { group.addTask { try? await device.local.synchronize() } }
            try await Task.sleep(for: .milliseconds(delay))
            node.kill()
            try node.start()
            try await group.waitForAll()
        }
        for device in devices {
            for message in try await shown(device, stream) {
                guard let number = message.sequence else { continue }
                #expect(record.numbers[message.id, default: number] == number)
                record.numbers[message.id] = number
            }
        }
    }

    @Test("bring all devices to one state: nothing acknowledged is lost, nothing is there twice, the order stays")
    func convergence() async throws {
        let store = try PostgreSQLCluster.shared.address(of: "kills-\(UUID().uuidString)")
        let live = try await LiveService(policies: LiveService.openStreams, store: store)
        let (other, service) = try live.anotherNode()
        let devices = [
            try await MessagingDevice(live, "ann"), try await MessagingDevice(live, "ann", at: service),
            try await MessagingDevice(live, "bob", at: service),
        ]
        let stream = UUID()
        try await devices[0].streams.open(StreamOpening(.conversation, members: ["devices/bob"], id: stream))
        for device in devices { try await device.local.synchronize() }
        let record = Record(devices: devices.count)
        let seed = Self.number("COUNTERSIGN_SEED", default: 1)
        var random = SeededRandom(seed: UInt64(seed))
        for _ in 0..<Self.number("COUNTERSIGN_KILLS", default: 4) {
            let node = Bool.random(using: &random) ? live.running : other
            try await Self.round(devices, node, stream, record, &random)
        }
        try await Self.settle(devices)

        var truth: [StreamMessage] = []
        var hasMore = true
        while hasMore {
            let page = try await devices[0].streams.messages(in: stream, after: truth.last?.sequence ?? 0)
            truth += page.messages
            hasMore = page.hasMore
        }
        #expect(truth.map(\.sequence) == truth.indices.map { Int64($0 + 1) }, "seed \(seed)")
        let ids = truth.map(\.id)
        #expect(Set(ids).count == ids.count && Set(ids) == Set(record.written.joined()), "seed \(seed)")
        for written in record.written { #expect(ids.filter(Set(written).contains) == written, "seed \(seed)") }
        #expect(record.numbers.allSatisfy { id, number in truth[Int(number) - 1].id == id })
        #expect(Set(truth.filter(\.isDeleted).map(\.id)) == record.deleted, "seed \(seed)")
        let row = try await devices[0].streams.show(stream)
        for device in devices {
            let found = try await Self.shown(device, stream).reversed()
            #expect(found.map(\.id) == ids && found.map(\.isDeleted) == truth.map(\.isDeleted), "seed \(seed)")
            #expect(found.map(\.parts) == truth.map { $0.parts ?? [] }, "seed \(seed)")
            #expect(found.map(\.metadata) == truth.map { $0.metadata ?? .object([:]) }, "seed \(seed)")
            if device.session.userID == devices[0].session.userID {
                #expect(
                    found.map(\.privateMetadata) == truth.map { $0.privateMetadata ?? .object([:]) }, "seed \(seed)")
            }
            #expect(try await device.local.metadata(of: stream) == row.metadata ?? .object([:]), "seed \(seed)")
        }
        let own = [
            try await devices[0].local.metadata(.own, of: stream),
            try await devices[1].local.metadata(.own, of: stream),
        ]
        #expect(own[0] == own[1] && own[0] == row.privateMetadata ?? .object([:]))
        other.kill()
    }

    /// Synchronizes until no device has anything to say or to learn.
    private static func settle(_ devices: [MessagingDevice]) async throws {
        for _ in 0..<3 {
            for device in devices { try await device.synchronize { try await device.local.isReconciled() } }
            // Once more each, for what the others have said meanwhile.
            for device in devices { try await device.local.synchronize() }
        }
        for device in devices { #expect(try await device.local.isReconciled()) }
    }
}
